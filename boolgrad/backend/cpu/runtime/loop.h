// The dimensions that `map` and `map_sum` walk over, collapsed to as few as possible.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/backend/cpu/tensor/map.h"

namespace boolgrad::cpu {

/// Offsets of each input, in elements.
using Offsets = std::array<std::int64_t, most_map_inputs>;

struct LoopDimension {
  std::int64_t size = 1;
  Offsets stride{};             ///< of each input; 0 where it is broadcast
  std::int64_t out_stride = 0;  ///< 0 where the dimension is summed over
};

/// A nest of loops, outermost first. Neighbouring dimensions that every operand walks through in
/// one stride are merged, and dimensions of size 1 are gone, so the innermost stride of every
/// operand is 0 or 1.
struct Loop {
  std::size_t inputs = 0;
  std::vector<LoopDimension> dimensions;

  std::int64_t elements() const;
};

/// The loop over `full` that reads `inputs` and writes (or sums into) a tensor of shape `out`.
Loop make_loop(std::span<const Tensor> inputs, const Shape& full, const Shape& out);

/// Number of points of a nest, and where its point `index` (row-major) lies.
std::int64_t point_count(std::span<const LoopDimension> nest);
struct Position {
  Offsets in{};
  std::int64_t out = 0;
};
Position position_of(std::span<const LoopDimension> nest, std::int64_t index);

}  // namespace boolgrad::cpu
