// Patterns of damage: which gates a mask switches off.
#pragma once

#include <cstdint>
#include <span>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// A mask [gates] with a random `share` of the gates off: exactly round(share * gates) of them.
Tensor random_knockout(std::int64_t gates, double share, DType dtype, std::uint64_t seed,
                       std::uint32_t layer);

/// A mask with the listed gates off.
Tensor listed_knockout(std::int64_t gates, std::span<const std::int64_t> off, DType dtype);

/// A mask with all gates off.
Tensor whole_knockout(std::int64_t gates, DType dtype);

/// A mask with the gates [first, first + count) off.
Tensor block_knockout(std::int64_t gates, std::int64_t first, std::int64_t count, DType dtype);

}  // namespace boolgrad
