// Samples between bytes and bits.
#pragma once

#include <cstdint>
#include <span>

#include "boolgrad/logic/lut.h"

namespace boolgrad {

/// Samples as arrays in C and NumPy order have them: a byte a feature, 1 where it is not 0, the
/// features of a sample side by side. Booleans are such bytes.
struct ByteSamples {
  std::span<const std::uint8_t> bytes;  ///< [samples, features]
  std::int64_t samples = 0;
};

/// The samples as bits, whose `features` are given because there may be no samples.
BitMatrix packed(const ByteSamples& samples, std::int64_t features);

/// The samples as bytes that are 0 or 1: `bytes` is [samples, features].
void unpack(const BitMatrix& bits, std::span<std::uint8_t> bytes);

}  // namespace boolgrad
