// Draws of 32 bits, as `shaders/random.glsl` compares them. Inside of `vulkan/`.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace boolgrad::vulkan {

/// What happens at a rate: always, or where a draw of 32 bits is below.
struct Below {
  std::uint32_t always, below;
};

/// A draw is below the rate's share of 2^32 where it is below the next whole number.
inline Below drawn_below(double rate) {
  const double scaled = std::ceil(rate * 0x1.0p32);
  if (scaled >= 0x1.0p32) return {1, 0};
  return {0, static_cast<std::uint32_t>(std::max(scaled, 0.0))};
}

}  // namespace boolgrad::vulkan
