// Masks that switch gates off, to test and train robustness to damage.
#pragma once

#include <cstdint>
#include <span>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad::logic {

/// A mask [gates] that switches off a random fraction: exactly round(share * gates) gates.
Tensor random_knockout(std::int64_t gates, double share, DType dtype, std::uint64_t seed,
                       std::uint32_t layer);

/// A mask that switches off the listed gates.
Tensor listed_knockout(std::int64_t gates, std::span<const std::int64_t> off, DType dtype);

/// A mask that switches off all gates.
Tensor whole_knockout(std::int64_t gates, DType dtype);

/// A mask that switches off the gates [first, first + count).
Tensor block_knockout(std::int64_t gates, std::int64_t first, std::int64_t count, DType dtype);

}  // namespace boolgrad::logic
