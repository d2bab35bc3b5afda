#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boolgrad/backend/cpu/network/softmax16.cpp"
#include <hwy/foreach_target.h>
// The vector functions need the macros of the line above.
#include "boolgrad/backend/cpu/network/softmax16.h"
#include "boolgrad/backend/cpu/tensor/vector_math-inl.h"
#include "boolgrad/tensor/dtype.h"

#ifndef BOOLGRAD_SOFTMAX16_TYPES_
#define BOOLGRAD_SOFTMAX16_TYPES_
namespace boolgrad::cpu {

/// Kernels over `count` gates. The `shares` of consecutive logits are `apart` elements apart.
struct Softmax16Kernels {
  void (*forward)(const void* logits, void* tables, void* shares, std::size_t apart,
                  std::size_t count);
  void (*backward)(const void* g, const void* shares, std::size_t apart, void* logits_grad,
                   std::size_t count);
};

/// Maps table entries (bit j of the entry index is input j) to bits of the gate index: f(0,0) is
/// bit 3, f(a=1, b=0) bit 1, f(a=0, b=1) bit 2, f(1,1) bit 0.
inline constexpr int index_bit_of_entry[4] = {3, 1, 2, 0};

}  // namespace boolgrad::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace boolgrad::cpu::HWY_NAMESPACE {

/// Loads one gate per lane: transposes [lanes][16] so that values[i] holds logit i of all gates.
template <class D, class T>
HWY_INLINE void LoadTurned(D d, const T* rows, hn::Vec<D>* values) {
  const hn::RebindToSigned<D> di;
  const auto offsets = hn::Mul(hn::Iota(di, 0), hn::Set(di, 16));
  for (int i = 0; i < 16; ++i) values[i] = hn::GatherIndex(d, rows + i, offsets);
}

template <class D, class T>
HWY_INLINE void SoftmaxOfGates(D d, const T* logits, T* tables, T* shares, std::size_t apart,
                               std::size_t count) {
  using V = hn::Vec<D>;
  V p[16];
  LoadTurned(d, logits, p);
  V largest = p[0];
  for (int i = 1; i < 16; ++i) largest = hn::Max(largest, p[i]);
  V total = hn::Zero(d);
  for (int i = 0; i < 16; ++i) {
    p[i] = hn::Exp(d, hn::Sub(p[i], largest));
    total = hn::Add(total, p[i]);
  }
  const V inverse = hn::Div(hn::Set(d, T(1)), total);
  V entries[4];
  for (V& entry : entries) entry = hn::Zero(d);
  for (int i = 0; i < 16; ++i) {
    p[i] = hn::Mul(p[i], inverse);
    StoreUpTo(d, p[i], shares + static_cast<std::size_t>(i) * apart, count);
    for (int e = 0; e < 4; ++e) {
      if (((i >> index_bit_of_entry[e]) & 1) != 0) entries[e] = hn::Add(entries[e], p[i]);
    }
  }
  hn::StoreInterleaved4(entries[0], entries[1], entries[2], entries[3], d, tables);
}

// dz = p (dp - sum p dp), where dp_i is the sum of g over the entries at which gate i is 1.
template <class D, class T>
HWY_INLINE void GradientOfGates(D d, const T* g, const T* shares, std::size_t apart, T* rows,
                                std::size_t count) {
  using V = hn::Vec<D>;
  V upstream[4];
  hn::LoadInterleaved4(d, g, upstream[0], upstream[1], upstream[2], upstream[3]);
  V p[16];
  V dp[16];
  V dot = hn::Zero(d);
  for (int i = 0; i < 16; ++i) {
    p[i] = LoadUpTo(d, shares + static_cast<std::size_t>(i) * apart, count);
    dp[i] = hn::Zero(d);
    for (int e = 0; e < 4; ++e) {
      if (((i >> index_bit_of_entry[e]) & 1) != 0) dp[i] = hn::Add(dp[i], upstream[e]);
    }
    dot = hn::MulAdd(p[i], dp[i], dot);
  }
  HWY_ALIGN T column[HWY_MAX_BYTES / sizeof(T)];
  for (int i = 0; i < 16; ++i) {
    hn::Store(hn::Mul(p[i], hn::Sub(dp[i], dot)), d, column);
    for (std::size_t lane = 0; lane < count; ++lane) {
      rows[lane * 16 + static_cast<std::size_t>(i)] = column[lane];
    }
  }
}

template <class T>
void Forward(const void* logits, void* tables, void* shares, std::size_t apart, std::size_t count) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const T* from = static_cast<const T*>(logits);
  T* to = static_cast<T*>(tables);
  T* share = static_cast<T*>(shares);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    SoftmaxOfGates(d, from + i * 16, to + i * 4, share + i, apart, lanes);
  }
  if (i == count) return;
  HWY_ALIGN T rows[HWY_MAX_BYTES / sizeof(T) * 16] = {};
  HWY_ALIGN T entries[HWY_MAX_BYTES / sizeof(T) * 4];
  for (std::size_t k = 0; k < (count - i) * 16; ++k) rows[k] = from[i * 16 + k];
  SoftmaxOfGates(d, rows, entries, share + i, apart, count - i);
  for (std::size_t k = 0; k < (count - i) * 4; ++k) to[i * 4 + k] = entries[k];
}

template <class T>
void Backward(const void* g, const void* shares, std::size_t apart, void* logits_grad,
              std::size_t count) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const T* from = static_cast<const T*>(g);
  const T* share = static_cast<const T*>(shares);
  T* to = static_cast<T*>(logits_grad);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    GradientOfGates(d, from + i * 4, share + i, apart, to + i * 16, lanes);
  }
  if (i == count) return;
  HWY_ALIGN T entries[HWY_MAX_BYTES / sizeof(T) * 4] = {};
  for (std::size_t k = 0; k < (count - i) * 4; ++k) entries[k] = from[i * 4 + k];
  GradientOfGates(d, entries, share + i, apart, to + i * 16, count - i);
}

Softmax16Kernels FindSoftmax16Kernels(DType dtype) {
  if (dtype == DType::float32) return {&Forward<float>, &Backward<float>};
  return {&Forward<double>, &Backward<double>};
}

}  // namespace boolgrad::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>

#include "boolgrad/core/parallel.h"

namespace boolgrad::cpu {
namespace {

HWY_EXPORT(FindSoftmax16Kernels);

constexpr std::size_t gates_per_task = 2048;

template <class T>
T* at(T* start, std::size_t elements, DType dtype) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  return static_cast<Byte*>(start) + elements * size_of(dtype);
}

}  // namespace

void softmax16(const Tensor& logits, Tensor& tables, Tensor& shares) {
  const auto gates = static_cast<std::size_t>(logits.shape()[0]);
  const DType dtype = logits.dtype();
  const Softmax16Kernels kernels = HWY_DYNAMIC_DISPATCH(FindSoftmax16Kernels)(dtype);
  parallel_for(task_count(gates, gates_per_task), [&](std::size_t task) {
    const std::size_t first = task * gates_per_task;
    kernels.forward(
        at(logits.data(), first * 16, dtype), at(tables.mutable_data(), first * 4, dtype),
        at(shares.mutable_data(), first, dtype), gates, std::min(gates_per_task, gates - first));
  });
}

void softmax16_grad(const Tensor& g, const Tensor& shares, Tensor& logits_grad) {
  const auto gates = static_cast<std::size_t>(g.shape()[0]);
  const DType dtype = g.dtype();
  const Softmax16Kernels kernels = HWY_DYNAMIC_DISPATCH(FindSoftmax16Kernels)(dtype);
  parallel_for(task_count(gates, gates_per_task), [&](std::size_t task) {
    const std::size_t first = task * gates_per_task;
    kernels.backward(at(g.data(), first * 4, dtype), at(shares.data(), first, dtype), gates,
                     at(logits_grad.mutable_data(), first * 16, dtype),
                     std::min(gates_per_task, gates - first));
  });
}

}  // namespace boolgrad::cpu
#endif
