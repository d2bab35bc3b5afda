#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boolgrad/backend/cpu/tensor/extremum.cpp"
#include <hwy/foreach_target.h>
// The vector functions need the macros of the line above.
#include "boolgrad/backend/cpu/tensor/extremum.h"
#include "boolgrad/backend/cpu/tensor/vector_math-inl.h"

#ifndef BOOLGRAD_EXTREMUM_TYPES_
#define BOOLGRAD_EXTREMUM_TYPES_
namespace boolgrad::cpu {

struct Extreme {
  double value;
  double count;
};

struct ExtremumKernels {
  /// The extremum of `count` contiguous elements.
  Extreme (*row)(const void* x, std::size_t count);
  /// Updates the running extrema and counts with a row of elements, in double for float64 and in
  /// float for the others.
  void (*merge_row)(const void* x, void* values, void* counts, std::size_t count);
};

}  // namespace boolgrad::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace boolgrad::cpu::HWY_NAMESPACE {

/// Updates the running extremum with vector v. NaN always wins.
template <bool Largest, class D, class V>
HWY_INLINE void Merge(D d, V v, V& value, V& count) {
  const V one = hn::Set(d, hn::TFromD<D>(1));
  const auto beyond = Largest ? hn::Gt(v, value) : hn::Lt(v, value);
  const auto taken = hn::Or(beyond, hn::Ne(v, v));
  const V one_more = hn::Add(count, hn::IfThenElseZero(hn::Eq(v, value), one));
  count = hn::IfThenElse(taken, one, one_more);
  value = hn::IfThenElse(taken, v, value);
}

template <bool Largest, class T>
Extreme ExtremeOfRow(const void* x, std::size_t count) {
  const ComputeTag<T> d;
  using C = Compute<T>;
  const T* from = static_cast<const T*>(x);
  const std::size_t lanes = hn::Lanes(d);
  const C start =
      Largest ? -std::numeric_limits<C>::infinity() : std::numeric_limits<C>::infinity();
  auto value0 = hn::Set(d, start);
  auto value1 = value0;
  auto count0 = hn::Zero(d);
  auto count1 = count0;
  std::size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    Merge<Largest>(d, LoadAs(d, from + i), value0, count0);
    Merge<Largest>(d, LoadAs(d, from + i + lanes), value1, count1);
  }
  HWY_ALIGN C values[3 * HWY_MAX_BYTES / sizeof(C)];
  HWY_ALIGN C counts[3 * HWY_MAX_BYTES / sizeof(C)];
  hn::StoreU(value0, d, values);
  hn::StoreU(count0, d, counts);
  hn::StoreU(value1, d, values + lanes);
  hn::StoreU(count1, d, counts + lanes);
  Extreme result{static_cast<double>(start), 0};
  const auto merge = [&](double v, double n) {
    if ((Largest ? v > result.value : v < result.value) || v != v) result = {v, n};
    else if (v == result.value) result.count += n;
  };
  for (std::size_t lane = 0; lane < 2 * lanes; ++lane) merge(values[lane], counts[lane]);
  for (; i < count; ++i) merge(static_cast<double>(static_cast<C>(from[i])), 1);
  return result;
}

template <bool Largest, class T>
void MergeRow(const void* x, void* values, void* counts, std::size_t count) {
  const ComputeTag<T> d;
  const T* from = static_cast<const T*>(x);
  auto* value_at = static_cast<Compute<T>*>(values);
  auto* count_at = static_cast<Compute<T>*>(counts);
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    auto value = hn::LoadU(d, value_at + i);
    auto ties = hn::LoadU(d, count_at + i);
    Merge<Largest>(d, LoadAs(d, from + i), value, ties);
    hn::StoreU(value, d, value_at + i);
    hn::StoreU(ties, d, count_at + i);
  }
  if (i < count) {
    auto value = LoadSome(d, value_at + i, count - i);
    auto ties = LoadSome(d, count_at + i, count - i);
    Merge<Largest>(d, LoadSome(d, from + i, count - i), value, ties);
    StoreSome(d, value, value_at + i, count - i);
    StoreSome(d, ties, count_at + i, count - i);
  }
}

template <bool Largest>
ExtremumKernels KernelsFor(DType dtype) {
  if (dtype == DType::float16)
    return {&ExtremeOfRow<Largest, Float16>, &MergeRow<Largest, Float16>};
  if (dtype == DType::float32) return {&ExtremeOfRow<Largest, float>, &MergeRow<Largest, float>};
  return {&ExtremeOfRow<Largest, double>, &MergeRow<Largest, double>};
}

ExtremumKernels FindExtremumKernels(bool largest, DType dtype) {
  return largest ? KernelsFor<true>(dtype) : KernelsFor<false>(dtype);
}

}  // namespace boolgrad::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <vector>

#include "boolgrad/backend/cpu/tensor/permute.h"
#include "boolgrad/core/parallel.h"

namespace boolgrad::cpu {
namespace {

HWY_EXPORT(FindExtremumKernels);

// A float counts exactly up to 2^24. A group of rows stays far below.
constexpr std::int64_t group_elements = 32768;
constexpr std::int64_t column_tile = 2048;
constexpr std::int64_t short_row = 16;

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

void merge(bool largest, Extreme& into, const Extreme& other) {
  const bool beyond = largest ? other.value > into.value : other.value < into.value;
  if (beyond || other.value != other.value) into = other;
  else if (other.value == into.value) into.count += other.count;
}

template <class T>
void store(Tensor& value, Tensor& count, std::int64_t at, const Extreme& extreme) {
  static_cast<T*>(value.mutable_data())[at] = convert<T>(extreme.value);
  static_cast<double*>(count.mutable_data())[at] = extreme.count;
}

template <class T>
void extremum_of_rows(bool largest, const Tensor& x, std::int64_t rows, std::int64_t length,
                      Tensor& value, Tensor& count) {
  const ExtremumKernels kernels = HWY_DYNAMIC_DISPATCH(FindExtremumKernels)(largest, x.dtype());
  const T* from = static_cast<const T*>(x.data());
  const std::int64_t group = std::min(length, group_elements);
  const std::int64_t groups = ceil_divide(length, group);
  const std::int64_t units = rows * groups;
  const std::int64_t units_per_task = std::max<std::int64_t>(1, group_elements / group);
  std::vector<Extreme> found(static_cast<std::size_t>(units));
  parallel_for(static_cast<std::size_t>(ceil_divide(units, units_per_task)), [&](std::size_t task) {
    const std::int64_t first = static_cast<std::int64_t>(task) * units_per_task;
    for (std::int64_t unit = first; unit < std::min(units, first + units_per_task); ++unit) {
      const std::int64_t begin = unit % groups * group;
      found[static_cast<std::size_t>(unit)] =
          kernels.row(from + unit / groups * length + begin,
                      static_cast<std::size_t>(std::min(group, length - begin)));
    }
  });
  for (std::int64_t row = 0; row < rows; ++row) {
    Extreme best = found[static_cast<std::size_t>(row * groups)];
    for (std::int64_t g = 1; g < groups; ++g) {
      merge(largest, best, found[static_cast<std::size_t>(row * groups + g)]);
    }
    store<T>(value, count, row, best);
  }
}

template <class T, class Compute>
void extremum_of_columns(bool largest, const Tensor& x, const AxisView& view, Tensor& value,
                         Tensor& count) {
  const ExtremumKernels kernels = HWY_DYNAMIC_DISPATCH(FindExtremumKernels)(largest, x.dtype());
  const T* from = static_cast<const T*>(x.data());
  const std::int64_t tile = std::min(view.inner, column_tile);
  const std::int64_t tiles = ceil_divide(view.inner, tile);
  const std::int64_t rows =
      std::min(view.length, std::max<std::int64_t>(16, group_elements / tile));
  const std::int64_t groups = ceil_divide(view.length, rows);
  const auto found_size = static_cast<std::size_t>(view.outer * groups * view.inner);
  const Compute start = largest ? -std::numeric_limits<Compute>::infinity()
                                : std::numeric_limits<Compute>::infinity();
  std::vector<Compute> values(found_size, start);
  std::vector<Compute> counts(found_size, Compute{0});
  parallel_for(static_cast<std::size_t>(view.outer * groups * tiles), [&](std::size_t task) {
    const auto index = static_cast<std::int64_t>(task);
    const std::int64_t column = index % tiles * tile;
    const std::int64_t group = index / tiles % groups;
    const std::int64_t outer = index / tiles / groups;
    const auto width = static_cast<std::size_t>(std::min(tile, view.inner - column));
    const std::int64_t to = (outer * groups + group) * view.inner + column;
    const std::int64_t end = std::min(view.length, (group + 1) * rows);
    for (std::int64_t row = group * rows; row < end; ++row) {
      kernels.merge_row(from + (outer * view.length + row) * view.inner + column,
                        values.data() + to, counts.data() + to, width);
    }
  });
  for (std::int64_t at = 0; at < view.outer * view.inner; ++at) {
    const std::int64_t first = at / view.inner * groups * view.inner + at % view.inner;
    Extreme best{static_cast<double>(start), 0};
    for (std::int64_t g = 0; g < groups; ++g) {
      const auto i = static_cast<std::size_t>(first + g * view.inner);
      merge(largest, best, {static_cast<double>(values[i]), static_cast<double>(counts[i])});
    }
    store<T>(value, count, at, best);
  }
}

template <class T, class Compute>
void extremum_of(bool largest, const Tensor& x, const AxisView& view, Tensor& value,
                 Tensor& count) {
  if (view.inner == 1) {
    extremum_of_rows<T>(largest, x, view.outer, view.length, value, count);
  } else if (view.inner < short_row) {
    // Short rows would leave vectors mostly empty: make the axis innermost first.
    const Tensor seen = x.viewed_as({view.outer, view.length, view.inner});
    Tensor turned({view.outer, view.inner, view.length}, x.dtype());
    permute(seen, {0, 2, 1}, turned);
    extremum_of_rows<T>(largest, turned, view.outer * view.inner, view.length, value, count);
  } else {
    extremum_of_columns<T, Compute>(largest, x, view, value, count);
  }
}

}  // namespace

AxisView axis_view(const Shape& shape, std::int64_t axis) {
  AxisView view;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    (at < axis ? view.outer : at == axis ? view.length : view.inner) *= shape[i];
  }
  return view;
}

void extremum(bool largest, const Tensor& x, const AxisView& view, Tensor& value, Tensor& count) {
  if (x.dtype() == DType::float16) extremum_of<Float16, float>(largest, x, view, value, count);
  else if (x.dtype() == DType::float32) extremum_of<float, float>(largest, x, view, value, count);
  else extremum_of<double, double>(largest, x, view, value, count);
}

}  // namespace boolgrad::cpu
#endif
