// Comparison of 32 random bits with a rate, as in `shaders/common/random.glsl`. Internal to
// `vulkan/`.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace boolgrad::vulkan {

/// An event with a given probability: it occurs if `always`, or if 32 random bits are less than
/// `below`.
struct RateThreshold {
  std::uint32_t always, below;
};

/// bits < rate * 2^32 is the same as bits < ceil(rate * 2^32).
inline RateThreshold rate_threshold(double rate) {
  const double scaled = std::ceil(rate * 0x1.0p32);
  if (scaled >= 0x1.0p32) return {1, 0};
  return {0, static_cast<std::uint32_t>(std::max(scaled, 0.0))};
}

}  // namespace boolgrad::vulkan
