#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boolgrad/backend/cpu/tensor/softmax.cpp"
#include <hwy/foreach_target.h>
// The vector functions need the macros of the line above.
#include "boolgrad/backend/cpu/tensor/softmax.h"
#include "boolgrad/backend/cpu/tensor/vector_math-inl.h"

#ifndef BOOLGRAD_SOFTMAX_TYPES_
#define BOOLGRAD_SOFTMAX_TYPES_
namespace boolgrad::cpu {

inline constexpr std::size_t widest_block = 256;

/// The arguments of a kernel. If softmax runs along the innermost axis, `rows` contiguous rows of
/// `length`. Otherwise (rows 0) a block [length, width] whose rows are `stride` elements
/// apart: softmax runs along `length`, vectors along `width`, which is at most
/// `widest_block`.
struct SoftmaxBlock {
  std::size_t length;
  std::size_t rows;
  std::size_t width;
  std::size_t stride;
};

struct SoftmaxKernels {
  void (*forward)(const SoftmaxBlock&, const void* x, void* y);
  void (*backward)(const SoftmaxBlock&, const void* g, const void* y, void* gx);
  /// Writes one value per sample.
  void (*log_sum_exp)(const SoftmaxBlock&, const void* x, void* largest, void* log_sum);
  /// exp(x - largest - log_sum) * factor
  void (*scaled_softmax)(const SoftmaxBlock&, const void* x, const void* largest,
                         const void* log_sum, double factor, void* gx);
};

}  // namespace boolgrad::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace boolgrad::cpu::HWY_NAMESPACE {

/// Calls full(i) for each full vector of [0, count) and some(i, n) for the rest.
template <class D, class Full, class Some>
HWY_INLINE void ForVectors(D d, std::size_t count, Full full, Some some) {
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) full(i);
  if (i < count) some(i, count - i);
}

/// Calls f with the index of each of R rows as a constant.
template <std::size_t R, class F>
HWY_INLINE void ForRows(F f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) HWY_ATTR {
    (f(std::integral_constant<std::size_t, I>{}), ...);
  }
  (std::make_index_sequence<R>{});
}

/// The lanes of one vector for each of 4 rows, or of 1, folded with `op`.
template <std::size_t R, class D, class V, class Op, class T>
HWY_INLINE void FoldRows(D d, const V* v, Op op, T* results) {
  if constexpr (R == 4) FoldFour(d, v[0], v[1], v[2], v[3], op, results);
  else results[0] = op.OfLanes(d, v[0]);
}

/// Processes R adjacent rows at a time, which share their reductions over lanes.
template <class T, std::size_t R>
struct RowGroup {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;

  static HWY_INLINE void Largest(const T* x, std::size_t length, T* largest) {
    const D d;
    const V lowest = hn::Neg(Infinity(d, hn::Zero(d)));
    V top[R];
    ForRows<R>([&](auto r) HWY_ATTR { top[r] = lowest; });
    ForVectors(
        d, length,
        [&](std::size_t i) HWY_ATTR {
          ForRows<R>([&](auto r)
                         HWY_ATTR { top[r] = hn::Max(top[r], hn::LoadU(d, x + r * length + i)); });
        },
        [&](std::size_t i, std::size_t n) HWY_ATTR {
          const auto used = hn::FirstN(d, n);
          ForRows<R>([&](auto r) HWY_ATTR {
            const V rest = LoadSome(d, x + r * length + i, n);
            top[r] = hn::Max(top[r], hn::IfThenElse(used, rest, lowest));
          });
        });
    FoldRows<R>(d, top, MaxOp(), largest);
  }

  /// Sums e^(x - largest). `keep` receives each vector of exponentials.
  template <class Keep>
  static HWY_INLINE void Total(const T* x, std::size_t length, const T* largest, T* totals,
                               Keep keep) {
    const D d;
    V sum[R];
    ForRows<R>([&](auto r) HWY_ATTR { sum[r] = hn::Zero(d); });
    ForVectors(
        d, length,
        [&](std::size_t i) HWY_ATTR {
          ForRows<R>([&](auto r) HWY_ATTR {
            const V v = hn::LoadU(d, x + r * length + i);
            const V e = FastExp(d, hn::Sub(v, hn::Set(d, largest[r])));
            sum[r] = hn::Add(sum[r], e);
            keep(r * length + i, hn::Lanes(d), e);
          });
        },
        [&](std::size_t i, std::size_t n) HWY_ATTR {
          const auto used = hn::FirstN(d, n);
          ForRows<R>([&](auto r) HWY_ATTR {
            const V v = LoadSome(d, x + r * length + i, n);
            const V e = FastExp(d, hn::Sub(v, hn::Set(d, largest[r])));
            sum[r] = hn::Add(sum[r], hn::IfThenElseZero(used, e));
            keep(r * length + i, n, e);
          });
        });
    FoldRows<R>(d, sum, AddOp(), totals);
  }

  static HWY_INLINE void Softmax(const T* x, T* y, std::size_t length) {
    const D d;
    T largest[R];
    T totals[R];
    Largest(x, length, largest);
    Total(x, length, largest, totals,
          [&](std::size_t at, std::size_t n, V e) HWY_ATTR { StoreUpTo(d, e, y + at, n); });
    ForRows<R>([&](auto r) HWY_ATTR { totals[r] = T(1) / totals[r]; });
    ForVectors(
        d, length,
        [&](std::size_t i) HWY_ATTR {
          ForRows<R>([&](auto r) HWY_ATTR {
            T* at = y + r * length + i;
            hn::StoreU(hn::Mul(hn::LoadU(d, at), hn::Set(d, totals[r])), d, at);
          });
        },
        [&](std::size_t i, std::size_t n) HWY_ATTR {
          ForRows<R>([&](auto r) HWY_ATTR {
            T* at = y + r * length + i;
            StoreSome(d, hn::Mul(LoadSome(d, at, n), hn::Set(d, totals[r])), at, n);
          });
        });
  }

  // gx = y (g - sum of g y)
  static HWY_INLINE void Gradient(const T* g, const T* y, T* gx, std::size_t length) {
    const D d;
    V dot[R];
    ForRows<R>([&](auto r) HWY_ATTR { dot[r] = hn::Zero(d); });
    ForVectors(
        d, length,
        [&](std::size_t i) HWY_ATTR {
          ForRows<R>([&](auto r) HWY_ATTR {
            const std::size_t at = r * length + i;
            dot[r] = hn::MulAdd(hn::LoadU(d, g + at), hn::LoadU(d, y + at), dot[r]);
          });
        },
        [&](std::size_t i, std::size_t n) HWY_ATTR {
          const auto used = hn::FirstN(d, n);
          ForRows<R>([&](auto r) HWY_ATTR {
            const std::size_t at = r * length + i;
            const V product = hn::Mul(LoadSome(d, g + at, n), LoadSome(d, y + at, n));
            dot[r] = hn::Add(dot[r], hn::IfThenElseZero(used, product));
          });
        });
    T totals[R];
    FoldRows<R>(d, dot, AddOp(), totals);
    ForVectors(
        d, length,
        [&](std::size_t i) HWY_ATTR {
          ForRows<R>([&](auto r) HWY_ATTR {
            const std::size_t at = r * length + i;
            const V rest = hn::Sub(hn::LoadU(d, g + at), hn::Set(d, totals[r]));
            hn::StoreU(hn::Mul(hn::LoadU(d, y + at), rest), d, gx + at);
          });
        },
        [&](std::size_t i, std::size_t n) HWY_ATTR {
          ForRows<R>([&](auto r) HWY_ATTR {
            const std::size_t at = r * length + i;
            const V rest = hn::Sub(LoadSome(d, g + at, n), hn::Set(d, totals[r]));
            StoreSome(d, hn::Mul(LoadSome(d, y + at, n), rest), gx + at, n);
          });
        });
  }

  static HWY_INLINE void LogSumExp(const T* x, T* largest, T* log_sum, std::size_t length) {
    Largest(x, length, largest);
    Total(x, length, largest, log_sum, [](std::size_t, std::size_t, V) {});
    ForRows<R>([&](auto r) HWY_ATTR { log_sum[r] = std::log(log_sum[r]); });
  }
};

/// Calls f(group, first row) for all rows, four at a time if they fit into the first-level cache.
template <class T, class F>
HWY_INLINE void ForRowGroups(const SoftmaxBlock& block, F f) {
  constexpr std::size_t longest_of_four = 256;
  std::size_t row = 0;
  if (block.length <= longest_of_four) {
    for (; row + 4 <= block.rows; row += 4) f(RowGroup<T, 4>(), row);
  }
  for (; row < block.rows; ++row) f(RowGroup<T, 1>(), row);
}

template <class T>
void ScaledSoftmaxRow(const T* x, T largest, T log_sum, T factor, T* gx, std::size_t count) {
  const hn::ScalableTag<T> d;
  const auto top = hn::Set(d, largest);
  const auto rest = hn::Set(d, log_sum);
  const auto times = hn::Set(d, factor);
  const auto value = [&](auto v) HWY_ATTR {
    return hn::Mul(times, FastExp(d, hn::Sub(hn::Sub(v, top), rest)));
  };
  ForVectors(
      d, count, [&](std::size_t i) HWY_ATTR { hn::StoreU(value(hn::LoadU(d, x + i)), d, gx + i); },
      [&](std::size_t i, std::size_t n)
          HWY_ATTR { StoreSome(d, value(LoadSome(d, x + i, n)), gx + i, n); });
}

/// One vector of columns: `load` and `store` handle a full or a partial vector alike.
template <class T, class D>
struct ColumnAccess {
  D d;
  std::size_t count;  ///< lanes in use; a full vector if it equals Lanes(d)

  HWY_INLINE hn::Vec<D> Load(const T* from) const { return LoadUpTo(d, from, count); }
  HWY_INLINE void Store(hn::Vec<D> value, T* to) const { StoreUpTo(d, value, to, count); }
};

/// Calls f(access, first column) for the vectors of columns of a block.
template <class T, class F>
HWY_INLINE void ForColumns(const SoftmaxBlock& block, F f) {
  const hn::ScalableTag<T> d;
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

// Columns are processed in parallel, row by row, so that memory access is sequential. The running
// values of the columns are kept in an array.

template <class T>
void LargestOfColumns(const SoftmaxBlock& block, const T* x, T* largest) {
  std::memcpy(largest, x, block.width * sizeof(T));
  for (std::size_t r = 1; r < block.length; ++r) {
    const T* row = x + r * block.stride;
    ForColumns<T>(block, [&](const auto& access, std::size_t c) HWY_ATTR {
      access.Store(hn::Max(access.Load(largest + c), access.Load(row + c)), largest + c);
    });
  }
}

/// Sums e^(x - largest). `keep` receives the exponentials of every row.
template <class T, class Keep>
void TotalOfColumns(const SoftmaxBlock& block, const T* x, const T* largest, T* totals, Keep keep) {
  std::fill_n(totals, block.width, T(0));
  for (std::size_t r = 0; r < block.length; ++r) {
    const T* row = x + r * block.stride;
    ForColumns<T>(block, [&](const auto& access, std::size_t c) HWY_ATTR {
      const auto e = FastExp(access.d, hn::Sub(access.Load(row + c), access.Load(largest + c)));
      access.Store(hn::Add(access.Load(totals + c), e), totals + c);
      keep(access, r * block.stride + c, e);
    });
  }
}

template <class T>
void SoftmaxColumns(const SoftmaxBlock& block, const T* x, T* y) {
  T largest[widest_block];
  T totals[widest_block];
  LargestOfColumns(block, x, largest);
  TotalOfColumns(block, x, largest, totals,
                 [&](const auto& access, std::size_t at, auto e)
                     HWY_ATTR { access.Store(e, y + at); });
  for (std::size_t c = 0; c < block.width; ++c) totals[c] = T(1) / totals[c];
  for (std::size_t r = 0; r < block.length; ++r) {
    T* row = y + r * block.stride;
    ForColumns<T>(block, [&](const auto& access, std::size_t c) HWY_ATTR {
      access.Store(hn::Mul(access.Load(row + c), access.Load(totals + c)), row + c);
    });
  }
}

template <class T>
void SoftmaxGradColumns(const SoftmaxBlock& block, const T* g, const T* y, T* gx) {
  T dots[widest_block] = {};
  for (std::size_t r = 0; r < block.length; ++r) {
    const std::size_t first = r * block.stride;
    ForColumns<T>(block, [&](const auto& access, std::size_t c) HWY_ATTR {
      const auto dot = access.Load(dots + c);
      const std::size_t at = first + c;
      access.Store(hn::MulAdd(access.Load(g + at), access.Load(y + at), dot), dots + c);
    });
  }
  for (std::size_t r = 0; r < block.length; ++r) {
    const std::size_t first = r * block.stride;
    ForColumns<T>(block, [&](const auto& access, std::size_t c) HWY_ATTR {
      const std::size_t at = first + c;
      const auto rest = hn::Sub(access.Load(g + at), access.Load(dots + c));
      access.Store(hn::Mul(access.Load(y + at), rest), gx + at);
    });
  }
}

template <class T>
void Forward(const SoftmaxBlock& block, const void* x, void* y) {
  const T* from = static_cast<const T*>(x);
  T* to = static_cast<T*>(y);
  if (block.rows > 0) {
    ForRowGroups<T>(block, [&](auto group, std::size_t row) HWY_ATTR {
      group.Softmax(from + row * block.length, to + row * block.length, block.length);
    });
    return;
  }
  SoftmaxColumns(block, from, to);
}

template <class T>
void Backward(const SoftmaxBlock& block, const void* g, const void* y, void* gx) {
  const T* upstream = static_cast<const T*>(g);
  const T* value = static_cast<const T*>(y);
  T* to = static_cast<T*>(gx);
  if (block.rows > 0) {
    ForRowGroups<T>(block, [&](auto group, std::size_t row) HWY_ATTR {
      const std::size_t at = row * block.length;
      group.Gradient(upstream + at, value + at, to + at, block.length);
    });
    return;
  }
  SoftmaxGradColumns(block, upstream, value, to);
}

template <class T>
void LogSumExp(const SoftmaxBlock& block, const void* x, void* largest, void* log_sum) {
  const T* from = static_cast<const T*>(x);
  T* largest_at = static_cast<T*>(largest);
  T* log_sum_at = static_cast<T*>(log_sum);
  if (block.rows > 0) {
    ForRowGroups<T>(block, [&](auto group, std::size_t row) HWY_ATTR {
      group.LogSumExp(from + row * block.length, largest_at + row, log_sum_at + row, block.length);
    });
    return;
  }
  LargestOfColumns(block, from, largest_at);
  TotalOfColumns(block, from, largest_at, log_sum_at,
                 [](const auto& /*access*/, std::size_t /*at*/, auto /*e*/) {});
  for (std::size_t c = 0; c < block.width; ++c) log_sum_at[c] = std::log(log_sum_at[c]);
}

template <class T>
void ScaledSoftmax(const SoftmaxBlock& block, const void* x, const void* largest,
                   const void* log_sum, double factor, void* gx) {
  const T* from = static_cast<const T*>(x);
  const T* largest_at = static_cast<const T*>(largest);
  const T* log_sum_at = static_cast<const T*>(log_sum);
  const auto times = static_cast<T>(factor);
  T* to = static_cast<T*>(gx);
  if (block.rows > 0) {
    for (std::size_t row = 0; row < block.rows; ++row) {
      ScaledSoftmaxRow(from + row * block.length, largest_at[row], log_sum_at[row], times,
                       to + row * block.length, block.length);
    }
    return;
  }
  for (std::size_t r = 0; r < block.length; ++r) {
    const std::size_t first = r * block.stride;
    ForColumns<T>(block, [&](const auto& access, std::size_t c) HWY_ATTR {
      const auto above = hn::Sub(access.Load(from + first + c), access.Load(largest_at + c));
      const auto p = FastExp(access.d, hn::Sub(above, access.Load(log_sum_at + c)));
      access.Store(hn::Mul(p, hn::Set(access.d, times)), to + first + c);
    });
  }
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
SoftmaxKernels kernels_for(DType dtype) { return HWY_DYNAMIC_DISPATCH(FindSoftmaxKernels)(dtype); }

/// The start of a block: element of the tensor, and sample (outer * inner).
using BlockFunction =
    std::function<void(const SoftmaxBlock&, std::int64_t element, std::int64_t sample)>;

// Many rows per task.
void for_row_blocks(const AxisView& view, const BlockFunction& f) {
  const std::int64_t per_task = std::max<std::int64_t>(4, task_elements / view.length / 4 * 4);
  const std::size_t tasks =
      task_count(static_cast<std::size_t>(view.outer), static_cast<std::size_t>(per_task));
  parallel_for(tasks, [&](std::size_t task) {
    const std::int64_t first = static_cast<std::int64_t>(task) * per_task;
    const std::int64_t rows = std::min(per_task, view.outer - first);
    f({static_cast<std::size_t>(view.length), static_cast<std::size_t>(rows), 0, 0},
      first * view.length, first);
  });
}

// Splits [outer, length, inner] into blocks and calls `f` for each.
void for_blocks(const AxisView& view, const BlockFunction& f) {
  if (view.outer * view.length * view.inner == 0) return;
  if (view.inner == 1) {
    for_row_blocks(view, f);
    return;
  }
  const std::int64_t tile = std::min<std::int64_t>(view.inner, widest_block);
  const std::int64_t tiles = (view.inner + tile - 1) / tile;
  const std::int64_t blocks = view.outer * tiles;
  const std::int64_t per_task = std::max<std::int64_t>(1, task_elements / (view.length * tile));
  const std::size_t tasks =
      task_count(static_cast<std::size_t>(blocks), static_cast<std::size_t>(per_task));
  parallel_for(tasks, [&](std::size_t task) {
    const std::int64_t first = static_cast<std::int64_t>(task) * per_task;
    for (std::int64_t i = first; i < std::min(blocks, first + per_task); ++i) {
      const std::int64_t outer = i / tiles;
      const std::int64_t column = i % tiles * tile;
      f({static_cast<std::size_t>(view.length), 0,
         static_cast<std::size_t>(std::min(tile, view.inner - column)),
         static_cast<std::size_t>(view.inner)},
        outer * view.length * view.inner + column, outer * view.inner + column);
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
  for_blocks(view, [&](const SoftmaxBlock& block, std::int64_t element, std::int64_t /*sample*/) {
    kernels.forward(block, at(x, element), at(y, element));
  });
}

void softmax_grad(const Tensor& g, const Tensor& y, const AxisView& view, Tensor& gx) {
  const SoftmaxKernels kernels = kernels_for(y.dtype());
  for_blocks(view, [&](const SoftmaxBlock& block, std::int64_t element, std::int64_t /*sample*/) {
    kernels.backward(block, at(g, element), at(y, element), at(gx, element));
  });
}

void log_sum_exp(const Tensor& x, const AxisView& view, Tensor& largest, Tensor& log_sum) {
  const SoftmaxKernels kernels = kernels_for(x.dtype());
  for_blocks(view, [&](const SoftmaxBlock& block, std::int64_t element, std::int64_t sample) {
    kernels.log_sum_exp(block, at(x, element), at(largest, sample), at(log_sum, sample));
  });
}

void cross_entropy_grad(const Tensor& x, const Tensor& labels, const Tensor& largest,
                        const Tensor& log_sum, double factor, const AxisView& view, Tensor& gx) {
  const SoftmaxKernels kernels = kernels_for(x.dtype());
  for_blocks(view, [&](const SoftmaxBlock& block, std::int64_t element, std::int64_t sample) {
    kernels.scaled_softmax(block, at(x, element), at(largest, sample), at(log_sum, sample), factor,
                           at(gx, element));
  });
  if (x.dtype() == DType::float32) subtract_at_labels<float>(labels, factor, view, gx);
  else subtract_at_labels<double>(labels, factor, view, gx);
}

}  // namespace boolgrad::cpu
#endif
