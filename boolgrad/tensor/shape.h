// Shapes, axes and NumPy broadcasting.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace boolgrad {

/// The sizes of the dimensions, outermost first. An empty shape is a scalar. Sizes may be 0.
using Shape = std::vector<std::int64_t>;

/// The axes of a reduction or a permutation. Negative axes count from the end.
using Axes = std::vector<std::int64_t>;

/// Formats a shape as `[2, 3]`.
std::string to_string(const Shape& shape);

/// The number of elements. Throws if it exceeds 2^62.
std::int64_t element_count(const Shape& shape);

/// The row-major strides, in elements.
std::vector<std::int64_t> row_major_strides(const Shape& shape);

/// The shape that `a` and `b` broadcast to. Throws in the name of `op` if there is none.
Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b);

/// `axis` counted from the front, checked against `rank`.
std::int64_t resolve_axis(std::string_view op, std::int64_t axis, std::size_t rank);

/// `axes` counted from the front, sorted and checked, without repeats. No value means all axes.
Axes resolve_axes(std::string_view op, const std::optional<Axes>& axes, std::size_t rank);

/// `shape` with the (resolved) `axes` set to 1, or removed if `keepdims` is false.
Shape reduced_shape(const Shape& shape, const Axes& axes, bool keepdims);

}  // namespace boolgrad
