#include "boolgrad/backend/cpu/runtime/loop.h"

namespace boolgrad::cpu {
namespace {

// The strides of a contiguous tensor, broadcast to the shape `full`.
std::vector<std::int64_t> broadcast_strides(const Shape& shape, const Shape& full) {
  const std::vector<std::int64_t> own = row_major_strides(shape);
  std::vector<std::int64_t> strides(full.size(), 0);
  const std::size_t missing = full.size() - shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    strides[missing + i] = shape[i] == 1 ? 0 : own[i];
  }
  return strides;
}

bool merges(const LoopDimension& outer, const LoopDimension& inner, std::size_t inputs) {
  if (outer.out_stride != inner.out_stride * inner.size) return false;
  for (std::size_t k = 0; k < inputs; ++k) {
    if (outer.stride[k] != inner.stride[k] * inner.size) return false;
  }
  return true;
}

}  // namespace

std::int64_t point_count(std::span<const LoopDimension> nest) {
  std::int64_t count = 1;
  for (const LoopDimension& dimension : nest) count *= dimension.size;
  return count;
}

std::int64_t Loop::elements() const { return point_count(dimensions); }

Position position_of(std::span<const LoopDimension> nest, std::int64_t index) {
  Position position;
  for (std::size_t i = nest.size(); i-- > 0 && index > 0;) {
    const LoopDimension& dimension = nest[i];
    const std::int64_t here = i == 0 ? index : index % dimension.size;
    index /= dimension.size;
    for (std::size_t k = 0; k < max_map_inputs; ++k) position.in[k] += here * dimension.stride[k];
    position.out += here * dimension.out_stride;
  }
  return position;
}

Loop make_loop(std::span<const Tensor> inputs, const Shape& full, const Shape& out) {
  std::vector<std::vector<std::int64_t>> strides;
  strides.reserve(inputs.size());
  for (const Tensor& input : inputs) strides.push_back(broadcast_strides(input.shape(), full));
  const std::vector<std::int64_t> out_strides = broadcast_strides(out, full);

  Loop loop;
  loop.inputs = inputs.size();
  for (std::size_t axis = 0; axis < full.size(); ++axis) {
    LoopDimension dimension;
    dimension.size = full[axis];
    if (dimension.size == 1) continue;
    for (std::size_t k = 0; k < inputs.size(); ++k) dimension.stride[k] = strides[k][axis];
    dimension.out_stride = out_strides[axis];
    if (!loop.dimensions.empty() && merges(loop.dimensions.back(), dimension, loop.inputs)) {
      dimension.size *= loop.dimensions.back().size;
      loop.dimensions.back() = dimension;
    } else {
      loop.dimensions.push_back(dimension);
    }
  }
  return loop;
}

}  // namespace boolgrad::cpu
