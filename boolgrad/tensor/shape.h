// Shapes, axes and NumPy's broadcasting rule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace boolgrad {

/// Sizes of the dimensions, outermost first. An empty shape is a scalar; a size may be 0.
using Shape = std::vector<std::int64_t>;

/// Axes of a reduction or a permutation. Negative ones count from the end.
using Axes = std::vector<std::int64_t>;

/// `[2, 3]`.
std::string to_string(const Shape& shape);

/// Number of elements. Throws where it would exceed 2^62.
std::int64_t element_count(const Shape& shape);

/// Row-major strides in elements.
std::vector<std::int64_t> row_major_strides(const Shape& shape);

/// The shape both broadcast to. `op` opens the message when there is none.
Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b);

/// An axis counted from the front, checked against `rank`.
std::int64_t resolve_axis(std::string_view op, std::int64_t axis, std::size_t rank);

/// Axes counted from the front, sorted, checked and free of repeats. No value means all axes.
Axes resolve_axes(std::string_view op, const std::optional<Axes>& axes, std::size_t rank);

/// `shape` with the (resolved) `axes` set to 1, or removed where `keepdims` is false.
Shape reduced_shape(const Shape& shape, const Axes& axes, bool keepdims);

}  // namespace boolgrad
