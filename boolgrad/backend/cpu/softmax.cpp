#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boolgrad/backend/cpu/softmax.cpp"
#include <hwy/foreach_target.h>
// The vector functions need the macros of the line above.
#include "boolgrad/backend/cpu/softmax.h"
#include "boolgrad/backend/cpu/vector_math-inl.h"

#ifndef BOOLGRAD_SOFTMAX_TYPES_
#define BOOLGRAD_SOFTMAX_TYPES_
namespace boolgrad::cpu {

/// Kernels over a block [length, width] whose rows are `stride` elements apart; softmax runs along
/// `length`, vectors along `width`. With width 1 and stride 1 vectors run along `length` instead.
/// `scratch` holds `length` vectors, or `length` values for a single row.
struct SoftmaxBlock {
  std::size_t length;
  std::size_t width;
  std::size_t stride;
};

struct SoftmaxKernels {
  void (*forward)(const SoftmaxBlock&, const void* x, void* y, void* scratch);
  void (*backward)(const SoftmaxBlock&, const void* g, const void* y, void* gx, void* scratch);
  /// Writes `width` values each.
  void (*log_sum_exp)(const SoftmaxBlock&, const void* x, void* largest, void* log_sum);
  /// exp(x - largest - log_sum) * factor
  void (*scaled_softmax)(const SoftmaxBlock&, const void* x, const void* largest,
                         const void* log_sum, double factor, void* gx);
};

}  // namespace boolgrad::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace boolgrad::cpu::HWY_NAMESPACE {

/// Calls full(i) for each full vector of [0, count) and some(i, n) for what is left.
template <class D, class Full, class Some>
HWY_INLINE void ForVectors(D d, std::size_t count, Full full, Some some) {
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) full(i);
  if (i < count) some(i, count - i);
}

template <class T, class D>
HWY_INLINE T LargestOfRow(D d, const T* x, std::size_t count) {
  auto largest = hn::Set(d, -std::numeric_limits<T>::infinity());
  ForVectors(
      d, count, [&](std::size_t i) HWY_ATTR { largest = hn::Max(largest, LoadAs(d, x + i)); },
      [&](std::size_t i, std::size_t n)
          HWY_ATTR { largest = hn::Max(largest, LoadSome(d, x + i, n)); });
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

template <class T>
void SoftmaxRow(const T* x, T* y, T* scratch, std::size_t count) {
  const ComputeTag<T> d;
  const auto largest = hn::Set(d, LargestOfRow(d, x, count));
  auto total = hn::Zero(d);
  ForVectors(
      d, count,
      [&](std::size_t i) HWY_ATTR {
        const auto e = ExpOf(d, hn::Sub(LoadAs(d, x + i), largest));
        total = hn::Add(total, e);
        hn::StoreU(e, d, scratch + i);
      },
      [&](std::size_t i, std::size_t n) HWY_ATTR {
        const auto e = ExpOf(d, hn::Sub(LoadSome(d, x + i, n), largest));
        total = hn::Add(total, hn::IfThenElseZero(hn::FirstN(d, n), e));
        StoreSome(d, e, scratch + i, n);
      });
  const auto one = hn::Set(d, T(1));
  const auto inverse = hn::Div(one, hn::SumOfLanes(d, total));
  ForVectors(
      d, count,
      [&](std::size_t i)
          HWY_ATTR { StoreAs(d, hn::Mul(hn::LoadU(d, scratch + i), inverse), y + i); },
      [&](std::size_t i, std::size_t n)
          HWY_ATTR { StoreSome(d, hn::Mul(LoadSome(d, scratch + i, n), inverse), y + i, n); });
}

template <class T>
void SoftmaxGradRow(const T* g, const T* y, T* gx, std::size_t count) {
  const ComputeTag<T> d;
  auto dot = hn::Zero(d);
  ForVectors(
      d, count,
      [&](std::size_t i) HWY_ATTR { dot = hn::MulAdd(LoadAs(d, g + i), LoadAs(d, y + i), dot); },
      [&](std::size_t i, std::size_t n) HWY_ATTR {
        const auto product = hn::Mul(LoadSome(d, g + i, n), LoadSome(d, y + i, n));
        dot = hn::Add(dot, hn::IfThenElseZero(hn::FirstN(d, n), product));
      });
  const auto total = hn::SumOfLanes(d, dot);
  ForVectors(
      d, count,
      [&](std::size_t i) HWY_ATTR {
        StoreAs(d, hn::Mul(LoadAs(d, y + i), hn::Sub(LoadAs(d, g + i), total)), gx + i);
      },
      [&](std::size_t i, std::size_t n) HWY_ATTR {
        StoreSome(d, hn::Mul(LoadSome(d, y + i, n), hn::Sub(LoadSome(d, g + i, n), total)), gx + i,
                  n);
      });
}

template <class T>
void LogSumExpRow(const T* x, T* largest, T* log_sum, std::size_t count) {
  const ComputeTag<T> d;
  *largest = LargestOfRow(d, x, count);
  const auto top = hn::Set(d, *largest);
  auto total = hn::Zero(d);
  ForVectors(
      d, count,
      [&](std::size_t i)
          HWY_ATTR { total = hn::Add(total, ExpOf(d, hn::Sub(LoadAs(d, x + i), top))); },
      [&](std::size_t i, std::size_t n) HWY_ATTR {
        const auto e = ExpOf(d, hn::Sub(LoadSome(d, x + i, n), top));
        total = hn::Add(total, hn::IfThenElseZero(hn::FirstN(d, n), e));
      });
  *log_sum = std::log(hn::GetLane(hn::SumOfLanes(d, total)));
}

template <class T>
void ScaledSoftmaxRow(const T* x, T largest, T log_sum, T factor, T* gx, std::size_t count) {
  const ComputeTag<T> d;
  const auto top = hn::Set(d, largest);
  const auto rest = hn::Set(d, log_sum);
  const auto times = hn::Set(d, factor);
  const auto value = [&](auto v) HWY_ATTR {
    return hn::Mul(times, ExpOf(d, hn::Sub(hn::Sub(v, top), rest)));
  };
  ForVectors(
      d, count, [&](std::size_t i) HWY_ATTR { StoreAs(d, value(LoadAs(d, x + i)), gx + i); },
      [&](std::size_t i, std::size_t n)
          HWY_ATTR { StoreSome(d, value(LoadSome(d, x + i, n)), gx + i, n); });
}

/// One vector of columns: `load` and `store` handle a full or a partial vector alike.
template <class T, class D>
struct ColumnAccess {
  D d;
  std::size_t count;  ///< lanes in use; a full vector where it equals Lanes(d)

  HWY_INLINE hn::Vec<D> Load(const T* from) const { return LoadUpTo(d, from, count); }
  HWY_INLINE void Store(hn::Vec<D> value, T* to) const { StoreUpTo(d, value, to, count); }
};

template <class T, class D>
HWY_INLINE void LargestAndTotal(const SoftmaxBlock& block, const ColumnAccess<T, D>& access,
                                const T* x, hn::Vec<D>& largest, hn::Vec<D>& total) {
  const D d = access.d;
  largest = access.Load(x);
  for (std::size_t r = 1; r < block.length; ++r) {
    largest = hn::Max(largest, access.Load(x + r * block.stride));
  }
  total = hn::Zero(d);
  for (std::size_t r = 0; r < block.length; ++r) {
    total = hn::Add(total, ExpOf(d, hn::Sub(access.Load(x + r * block.stride), largest)));
  }
}

template <class T, class D>
void SoftmaxColumns(const SoftmaxBlock& block, const ColumnAccess<T, D>& access, const T* x, T* y,
                    T* scratch) {
  const D d = access.d;
  const std::size_t lanes = hn::Lanes(d);
  auto largest = access.Load(x);
  for (std::size_t r = 1; r < block.length; ++r) {
    largest = hn::Max(largest, access.Load(x + r * block.stride));
  }
  auto total = hn::Zero(d);
  for (std::size_t r = 0; r < block.length; ++r) {
    const auto e = ExpOf(d, hn::Sub(access.Load(x + r * block.stride), largest));
    total = hn::Add(total, e);
    hn::StoreU(e, d, scratch + r * lanes);
  }
  const auto inverse = hn::Div(hn::Set(d, T(1)), total);
  for (std::size_t r = 0; r < block.length; ++r) {
    access.Store(hn::Mul(hn::LoadU(d, scratch + r * lanes), inverse), y + r * block.stride);
  }
}

template <class T, class D>
void SoftmaxGradColumns(const SoftmaxBlock& block, const ColumnAccess<T, D>& access, const T* g,
                        const T* y, T* gx) {
  auto dot = hn::Zero(access.d);
  for (std::size_t r = 0; r < block.length; ++r) {
    dot = hn::MulAdd(access.Load(g + r * block.stride), access.Load(y + r * block.stride), dot);
  }
  for (std::size_t r = 0; r < block.length; ++r) {
    const std::size_t at = r * block.stride;
    access.Store(hn::Mul(access.Load(y + at), hn::Sub(access.Load(g + at), dot)), gx + at);
  }
}

/// Calls f(access, first column) for the vectors of columns of a block.
template <class T, class F>
HWY_INLINE void ForColumns(const SoftmaxBlock& block, F f) {
  const ComputeTag<T> d;
  using D = decltype(d);
  ForVectors(
      d, block.width,
      [&](std::size_t c) HWY_ATTR {
        f(ColumnAccess<T, std::remove_const_t<D>>{d, hn::Lanes(d)}, c);
      },
      [&](std::size_t c, std::size_t n) HWY_ATTR {
        f(ColumnAccess<T, std::remove_const_t<D>>{d, n}, c);
      });
}

bool IsRow(const SoftmaxBlock& block) { return block.width == 1 && block.stride == 1; }

template <class T>
void Forward(const SoftmaxBlock& block, const void* x, void* y, void* scratch) {
  const T* from = static_cast<const T*>(x);
  T* to = static_cast<T*>(y);
  auto* buffer = static_cast<T*>(scratch);
  if (IsRow(block)) {
    SoftmaxRow(from, to, buffer, block.length);
    return;
  }
  ForColumns<T>(block, [&](const auto& access, std::size_t c)
                           HWY_ATTR { SoftmaxColumns(block, access, from + c, to + c, buffer); });
}

template <class T>
void Backward(const SoftmaxBlock& block, const void* g, const void* y, void* gx,
              void* /*scratch*/) {
  const T* upstream = static_cast<const T*>(g);
  const T* value = static_cast<const T*>(y);
  T* to = static_cast<T*>(gx);
  if (IsRow(block)) {
    SoftmaxGradRow(upstream, value, to, block.length);
    return;
  }
  ForColumns<T>(block, [&](const auto& access, std::size_t c) HWY_ATTR {
    SoftmaxGradColumns(block, access, upstream + c, value + c, to + c);
  });
}

template <class T>
void LogSumExp(const SoftmaxBlock& block, const void* x, void* largest, void* log_sum) {
  const T* from = static_cast<const T*>(x);
  auto* largest_at = static_cast<T*>(largest);
  auto* log_sum_at = static_cast<T*>(log_sum);
  if (IsRow(block)) {
    LogSumExpRow(from, largest_at, log_sum_at, block.length);
    return;
  }
  ForColumns<T>(block, [&](const auto& access, std::size_t c) HWY_ATTR {
    const auto d = access.d;
    hn::Vec<decltype(d)> top, total;
    LargestAndTotal(block, access, from + c, top, total);
    StoreSome(d, top, largest_at + c, access.count);
    StoreSome(d, LogOf(d, total), log_sum_at + c, access.count);
  });
}

template <class T>
void ScaledSoftmax(const SoftmaxBlock& block, const void* x, const void* largest,
                   const void* log_sum, double factor, void* gx) {
  const T* from = static_cast<const T*>(x);
  const auto* largest_at = static_cast<const T*>(largest);
  const auto* log_sum_at = static_cast<const T*>(log_sum);
  const auto times = static_cast<T>(factor);
  T* to = static_cast<T*>(gx);
  if (IsRow(block)) {
    ScaledSoftmaxRow(from, *largest_at, *log_sum_at, times, to, block.length);
    return;
  }
  ForColumns<T>(block, [&](const auto& access, std::size_t c) HWY_ATTR {
    const auto d = access.d;
    const auto top = LoadSome(d, largest_at + c, access.count);
    const auto rest = LoadSome(d, log_sum_at + c, access.count);
    for (std::size_t r = 0; r < block.length; ++r) {
      const std::size_t at = r * block.stride + c;
      const auto p = ExpOf(d, hn::Sub(hn::Sub(access.Load(from + at), top), rest));
      access.Store(hn::Mul(p, hn::Set(d, times)), to + at);
    }
  });
}

template <class T>
SoftmaxKernels KernelsOf() {
  return {&Forward<T>, &Backward<T>, &LogSumExp<T>, &ScaledSoftmax<T>};
}

SoftmaxKernels FindSoftmaxKernels(DType dtype) {
  return dtype == DType::float32 ? KernelsOf<float>() : KernelsOf<double>();
}

}  // namespace boolgrad::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <functional>
#include <vector>

#include "boolgrad/core/parallel.h"

namespace boolgrad::cpu {
namespace {

HWY_EXPORT(FindSoftmaxKernels);

constexpr std::int64_t task_elements = 32768;
// Columns of one block: wide enough for whole cache lines, narrow enough to stay in the cache.
constexpr std::int64_t column_tile = 256;
// Bytes of the widest vector of any instruction set. (Highway's own constant speaks of the set that
// a piece of code is compiled for, which here is not the one the kernels run on.)
constexpr std::size_t widest_vector = 256;

SoftmaxKernels kernels_for(DType dtype) { return HWY_DYNAMIC_DISPATCH(FindSoftmaxKernels)(dtype); }

/// Where a block starts: element of the tensor, and sample (outer * inner).
using BlockFunction =
    std::function<void(const SoftmaxBlock&, std::int64_t element, std::int64_t sample, void*)>;

// Cuts [outer, length, inner] into blocks and runs `f` on each; `f` gets scratch memory.
void for_blocks(const AxisView& view, const BlockFunction& f) {
  if (view.outer * view.length * view.inner == 0) return;
  const std::int64_t tile = std::min(view.inner, column_tile);
  const std::int64_t tiles = (view.inner + tile - 1) / tile;
  const std::int64_t blocks = view.outer * tiles;
  const std::int64_t per_task = std::max<std::int64_t>(1, task_elements / (view.length * tile));
  const std::size_t tasks =
      task_count(static_cast<std::size_t>(blocks), static_cast<std::size_t>(per_task));
  parallel_for(tasks, [&](std::size_t task) {
    const std::size_t per_row = view.inner == 1 ? sizeof(double) : widest_vector;
    std::vector<double> scratch(static_cast<std::size_t>(view.length) * per_row / sizeof(double));
    const std::int64_t first = static_cast<std::int64_t>(task) * per_task;
    for (std::int64_t i = first; i < std::min(blocks, first + per_task); ++i) {
      const std::int64_t outer = i / tiles;
      const std::int64_t column = i % tiles * tile;
      const SoftmaxBlock block{static_cast<std::size_t>(view.length),
                               static_cast<std::size_t>(std::min(tile, view.inner - column)),
                               static_cast<std::size_t>(view.inner)};
      f(block, outer * view.length * view.inner + column, outer * view.inner + column,
        scratch.data());
    }
  });
}

const std::byte* at(const Tensor& tensor, std::int64_t element) {
  return static_cast<const std::byte*>(tensor.data()) +
         static_cast<std::size_t>(element) * size_of(tensor.dtype());
}

std::byte* at(Tensor& tensor, std::int64_t element) {
  return static_cast<std::byte*>(tensor.mutable_data()) +
         static_cast<std::size_t>(element) * size_of(tensor.dtype());
}

template <class T>
void subtract_at_labels(const Tensor& labels, double factor, const AxisView& view, Tensor& gx) {
  const std::span<const std::int64_t> label = labels.values<std::int64_t>();
  const std::span<T> to = gx.mutable_values<T>();
  for (std::int64_t sample = 0; sample < view.outer * view.inner; ++sample) {
    const std::int64_t outer = sample / view.inner;
    const std::int64_t row = outer * view.length + label[static_cast<std::size_t>(sample)];
    const auto i = static_cast<std::size_t>(row * view.inner + sample % view.inner);
    to[i] -= static_cast<T>(factor);
  }
}

}  // namespace

void softmax(const Tensor& x, const AxisView& view, Tensor& y) {
  const SoftmaxKernels kernels = kernels_for(x.dtype());
  for_blocks(view, [&](const SoftmaxBlock& block, std::int64_t element, std::int64_t /*sample*/,
                       void* scratch) {
    kernels.forward(block, at(x, element), at(y, element), scratch);
  });
}

void softmax_grad(const Tensor& g, const Tensor& y, const AxisView& view, Tensor& gx) {
  const SoftmaxKernels kernels = kernels_for(y.dtype());
  for_blocks(view, [&](const SoftmaxBlock& block, std::int64_t element, std::int64_t /*sample*/,
                       void* scratch) {
    kernels.backward(block, at(g, element), at(y, element), at(gx, element), scratch);
  });
}

void log_sum_exp(const Tensor& x, const AxisView& view, Tensor& largest, Tensor& log_sum) {
  const SoftmaxKernels kernels = kernels_for(x.dtype());
  for_blocks(view, [&](const SoftmaxBlock& block, std::int64_t element, std::int64_t sample,
                       void* /*scratch*/) {
    kernels.log_sum_exp(block, at(x, element), at(largest, sample), at(log_sum, sample));
  });
}

void cross_entropy_grad(const Tensor& x, const Tensor& labels, const Tensor& largest,
                        const Tensor& log_sum, double factor, const AxisView& view, Tensor& gx) {
  const SoftmaxKernels kernels = kernels_for(x.dtype());
  for_blocks(view, [&](const SoftmaxBlock& block, std::int64_t element, std::int64_t sample,
                       void* /*scratch*/) {
    kernels.scaled_softmax(block, at(x, element), at(largest, sample), at(log_sum, sample), factor,
                           at(gx, element));
  });
  if (x.dtype() == DType::float32) subtract_at_labels<float>(labels, factor, view, gx);
  else subtract_at_labels<double>(labels, factor, view, gx);
}

}  // namespace boolgrad::cpu
#endif
