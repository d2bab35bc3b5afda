// Extrema and the number of ties.
#pragma once

#include <cstdint>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad::cpu {

/// A tensor viewed as [outer, length, inner], to be reduced along `length`.
struct AxisView {
  std::int64_t outer = 1;
  std::int64_t length = 1;
  std::int64_t inner = 1;
};

/// The view of `shape` around one axis.
AxisView axis_view(const Shape& shape, std::int64_t axis);

/// Finds the largest (or smallest) element along the axis and, in the same pass, the number of
/// elements equal to it. `value` has the dtype of x and `count` is float64; both have outer * inner
/// elements. NaN wins.
void extremum(bool largest, const Tensor& x, const AxisView& view, Tensor& value, Tensor& count);

}  // namespace boolgrad::cpu
