// Largest and smallest elements, and how many tie for it.
#pragma once

#include <cstdint>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad::cpu {

/// A tensor seen as [outer, length, inner], to be reduced along `length`.
struct AxisView {
  std::int64_t outer = 1;
  std::int64_t length = 1;
  std::int64_t inner = 1;
};

/// `shape` around one axis.
AxisView axis_view(const Shape& shape, std::int64_t axis);

/// Finds the largest (or smallest) element along the axis and counts, in the same pass, how many
/// equal it. `value` has the dtype of x, `count` is float64, both outer * inner elements. NaN wins.
void extremum(bool largest, const Tensor& x, const AxisView& view, Tensor& value, Tensor& count);

}  // namespace boolgrad::cpu
