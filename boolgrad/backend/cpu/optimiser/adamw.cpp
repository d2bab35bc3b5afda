#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boolgrad/backend/cpu/optimiser/adamw.cpp"
#include <hwy/foreach_target.h>
// The vector functions need the macros of the line above.
#include "boolgrad/backend/cpu/optimiser/adamw.h"
#include "boolgrad/backend/cpu/tensor/vector_math-inl.h"

#ifndef BOOLGRAD_ADAMW_TYPES_
#define BOOLGRAD_ADAMW_TYPES_
namespace boolgrad::cpu {

/// Updates the elements [begin, end).
using AdamWKernel = void (*)(const AdamWFactors<double>& factors, void* p, void* m, void* v,
                             const void* g, std::size_t begin, std::size_t end);

}  // namespace boolgrad::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace boolgrad::cpu::HWY_NAMESPACE {

template <class D>
struct AdamWUpdate {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;

  AdamWUpdate(D d, const AdamWFactors<double>& factors)
      : beta1(hn::Set(d, static_cast<T>(factors.beta1))),
        beta2(hn::Set(d, static_cast<T>(factors.beta2))),
        rest1(hn::Set(d, static_cast<T>(factors.rest1))),
        rest2(hn::Set(d, static_cast<T>(factors.rest2))),
        scale(hn::Set(d, static_cast<T>(factors.scale))),
        rate(hn::Set(d, static_cast<T>(factors.rate))),
        keep(hn::Set(d, static_cast<T>(factors.keep))),
        epsilon(hn::Set(d, static_cast<T>(factors.epsilon))) {}

  HWY_INLINE void operator()(V& p, V& m, V& v, V g) const {
    m = hn::Add(hn::Mul(beta1, m), hn::Mul(rest1, g));
    v = hn::Add(hn::Mul(beta2, v), hn::Mul(rest2, hn::Mul(g, g)));
    const V spread = hn::Add(hn::Sqrt(hn::Mul(v, scale)), epsilon);
    p = hn::Sub(hn::Mul(p, keep), hn::Div(hn::Mul(rate, m), spread));
  }

  V beta1, beta2, rest1, rest2, scale, rate, keep, epsilon;
};

template <class T>
void AdamWRange(const AdamWFactors<double>& factors, void* p, void* m, void* v, const void* g,
                std::size_t begin, std::size_t end) {
  const hn::ScalableTag<T> d;
  const AdamWUpdate update(d, factors);
  T* p_at = static_cast<T*>(p);
  T* m_at = static_cast<T*>(m);
  T* v_at = static_cast<T*>(v);
  const T* g_at = static_cast<const T*>(g);
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = begin;
  for (; i + lanes <= end; i += lanes) {
    auto parameter = hn::LoadU(d, p_at + i);
    auto first = hn::LoadU(d, m_at + i);
    auto second = hn::LoadU(d, v_at + i);
    update(parameter, first, second, hn::LoadU(d, g_at + i));
    hn::StoreU(parameter, d, p_at + i);
    hn::StoreU(first, d, m_at + i);
    hn::StoreU(second, d, v_at + i);
  }
  if (i < end) {
    const std::size_t rest = end - i;
    auto parameter = LoadSome(d, p_at + i, rest);
    auto first = LoadSome(d, m_at + i, rest);
    auto second = LoadSome(d, v_at + i, rest);
    update(parameter, first, second, LoadSome(d, g_at + i, rest));
    StoreSome(d, parameter, p_at + i, rest);
    StoreSome(d, first, m_at + i, rest);
    StoreSome(d, second, v_at + i, rest);
  }
}

AdamWKernel FindAdamWKernel(DType dtype) {
  return dtype == DType::float64 ? &AdamWRange<double> : &AdamWRange<float>;
}

}  // namespace boolgrad::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>

#include "boolgrad/core/parallel.h"

namespace boolgrad::cpu {
namespace {

HWY_EXPORT(FindAdamWKernel);

// Elements per task: enough to amortise its overhead.
constexpr std::size_t task_elements = 16384;

}  // namespace

void adamw(const AdamWFactors<double>& factors, Tensor& p, Tensor& m, Tensor& v, const Tensor& g) {
  const AdamWKernel kernel = HWY_DYNAMIC_DISPATCH(FindAdamWKernel)(p.dtype());
  const auto count = static_cast<std::size_t>(p.size());
  parallel_for(task_count(count, task_elements), [&](std::size_t task) {
    const std::size_t begin = task * task_elements;
    kernel(factors, p.mutable_data(), m.mutable_data(), v.mutable_data(), g.data(), begin,
           std::min(begin + task_elements, count));
  });
}

}  // namespace boolgrad::cpu

#endif
