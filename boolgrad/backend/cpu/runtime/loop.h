// The loop nests of `map` and `map_sum`, with collapsed dimensions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/backend/cpu/tensor/map.h"

namespace boolgrad::cpu {

/// One offset per input, in elements.
using Offsets = std::array<std::int64_t, max_map_inputs>;

struct LoopDimension {
  std::int64_t size = 1;
  Offsets stride{};             ///< of each input; 0 if it is broadcast
  std::int64_t out_stride = 0;  ///< 0 if the dimension is summed over
};

/// A loop nest, outermost first. Adjacent dimensions that are contiguous in every operand are
/// merged, and dimensions of size 1 are removed. The innermost stride of every operand is 0 or 1.
struct Loop {
  std::size_t inputs = 0;
  std::vector<LoopDimension> dimensions;

  std::int64_t elements() const;
};

/// The loop over `full` that reads `inputs` and writes (or sums into) a tensor of shape `out`.
Loop make_loop(std::span<const Tensor> inputs, const Shape& full, const Shape& out);

/// The number of iterations of a nest, and the offsets of iteration `index` (in row-major order).
std::int64_t point_count(std::span<const LoopDimension> nest);
struct Position {
  Offsets in{};
  std::int64_t out = 0;
};
Position position_of(std::span<const LoopDimension> nest, std::int64_t index);

}  // namespace boolgrad::cpu
