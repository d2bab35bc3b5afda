// Conversion of samples between bytes and packed bits.
#pragma once

#include <cstdint>
#include <span>

#include "boolgrad/logic/lut.h"

namespace boolgrad::circuit {

/// Samples in C order, as in NumPy: one byte per feature, where any value but 0 is 1.
struct ByteSamples {
  std::span<const std::uint8_t> bytes;  ///< [samples, features]
  std::int64_t samples = 0;
};

/// Packs samples. `features` is explicit because there may be no samples.
logic::BitMatrix packed(const ByteSamples& samples, std::int64_t features);

/// Unpacks samples to bytes 0 and 1: `bytes` is [samples, features].
void unpack(const logic::BitMatrix& bits, std::span<std::uint8_t> bytes);

}  // namespace boolgrad::circuit
