// Counter-based random numbers.
//
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3, 2011)
// maps a 128-bit counter and a 64-bit key to 128 random bits. Here the key is the seed and the
// counter is (stream, step, index). A random number is a pure function of its address: threads,
// devices and evaluation order cannot change it.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace boolgrad {

/// The 128-bit counter of Philox, and its output.
using PhiloxCounter = std::array<std::uint32_t, 4>;
/// The 64-bit key of Philox.
using PhiloxKey = std::array<std::uint32_t, 2>;

/// Ten rounds of Philox4x32.
constexpr PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t second = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(second >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(second),
               static_cast<std::uint32_t>(first >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(first)};
    key = {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U};
  }
  return counter;
}

/// The address of a random number. `stream` separates the uses within one run (wiring, initial
/// values, fire masks, ...).
struct RandomAddress {
  std::uint64_t seed = 0;    ///< seed of the run
  std::uint32_t stream = 0;  ///< use within the run
  std::uint32_t step = 0;    ///< training step, or another counter
  std::uint64_t index = 0;   ///< index within the step
};

/// The 128 random bits at an address.
constexpr PhiloxCounter random_bits(const RandomAddress& at) {
  return philox4x32(
      {static_cast<std::uint32_t>(at.index), static_cast<std::uint32_t>(at.index >> 32), at.step,
       at.stream},
      {static_cast<std::uint32_t>(at.seed), static_cast<std::uint32_t>(at.seed >> 32)});
}

/// Uniform in [0, 1), in multiples of 2^-53.
constexpr double random_uniform(const RandomAddress& at) {
  const PhiloxCounter bits = random_bits(at);
  const std::uint64_t word = (std::uint64_t{bits[0]} << 32) | bits[1];
  return static_cast<double>(word >> 11) * 0x1.0p-53;
}

/// Standard normal, by the Box-Muller transform.
inline double random_normal(const RandomAddress& at) {
  const PhiloxCounter bits = random_bits(at);
  const std::uint64_t first = (std::uint64_t{bits[0]} << 32) | bits[1];
  const std::uint64_t second = (std::uint64_t{bits[2]} << 32) | bits[3];
  const double u = static_cast<double>((first >> 11) + 1) * 0x1.0p-53;  // in (0, 1]
  const double v = static_cast<double>(second >> 11) * 0x1.0p-53;
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

/// A uniform integer in [0, bound) for a bound of at least 1. The bias is below bound / 2^64.
constexpr std::uint64_t random_below(const RandomAddress& at, std::uint64_t bound) {
  const PhiloxCounter bits = random_bits(at);
  const std::uint64_t word = (std::uint64_t{bits[0]} << 32) | bits[1];
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(word) * bound) >> 64);
}

}  // namespace boolgrad
