#include "boolgrad/tensor/shape.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "boolgrad/core/fail.h"

namespace boolgrad {

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::int64_t element_count(const Shape& shape) {
  constexpr std::int64_t limit = std::int64_t{1} << 62;
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) fail("shape", "expected sizes of 0 or more, received {}", to_string(shape));
    if (size == 0) empty = true;
    if (size > 0 && count > limit / size) {
      fail("shape", "expected fewer than 2^62 elements, received {}", to_string(shape));
    }
    if (size > 0) count *= size;
  }
  return empty ? 0 : count;
}

std::vector<std::int64_t> row_major_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape result(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t from_a = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
    const std::int64_t from_b = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
    if (from_a != from_b && from_a != 1 && from_b != 1) {
      fail(op, "expected shapes that broadcast, received {} and {}", to_string(a), to_string(b));
    }
    result[i] = from_a == 1 ? from_b : from_a;
  }
  return result;
}

std::int64_t resolve_axis(std::string_view op, std::int64_t axis, std::size_t rank) {
  const auto dimensions = static_cast<std::int64_t>(rank);
  if (axis < -dimensions || axis >= dimensions) {
    fail(op, "expected an axis within {} dimensions, received {}", dimensions, axis);
  }
  return axis < 0 ? axis + dimensions : axis;
}

Axes resolve_axes(std::string_view op, const std::optional<Axes>& axes, std::size_t rank) {
  Axes result;
  if (!axes) {
    for (std::size_t i = 0; i < rank; ++i) result.push_back(static_cast<std::int64_t>(i));
    return result;
  }
  for (const std::int64_t axis : *axes) result.push_back(resolve_axis(op, axis, rank));
  std::sort(result.begin(), result.end());
  const auto repeat = std::adjacent_find(result.begin(), result.end());
  if (repeat != result.end()) fail(op, "expected each axis once, received axis {} twice", *repeat);
  return result;
}

Shape reduced_shape(const Shape& shape, const Axes& axes, bool keepdims) {
  Shape result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool reduced = std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(i));
    if (!reduced) result.push_back(shape[i]);
    else if (keepdims) result.push_back(1);
  }
  return result;
}

}  // namespace boolgrad
