// The random numbers of core/random.h, at the same addresses. Internal to `cuda/`.
#pragma once

#include <cstdint>

namespace boolgrad::cuda {

struct RandomBits {
  std::uint32_t word[4];

  /// A word selected at run time. Indexing would move the array to local memory.
  __device__ __forceinline__ std::uint32_t at(std::uint64_t i) const {
    return i == 0 ? word[0] : i == 1 ? word[1] : i == 2 ? word[2] : word[3];
  }

  /// The upper 53 bits of the first two words: 2^53 times the uniform number at the address.
  __device__ std::uint64_t uniform_53() const {
    return ((static_cast<std::uint64_t>(word[0]) << 32) | word[1]) >> 11;
  }
};

/// 128 random bits at an address: Philox4x32-10.
__device__ __forceinline__ RandomBits random_bits(std::uint64_t seed, std::uint32_t stream,
                                                  std::uint32_t step, std::uint64_t index) {
  std::uint32_t c0 = static_cast<std::uint32_t>(index);
  std::uint32_t c1 = static_cast<std::uint32_t>(index >> 32);
  std::uint32_t c2 = step;
  std::uint32_t c3 = stream;
  std::uint32_t k0 = static_cast<std::uint32_t>(seed);
  std::uint32_t k1 = static_cast<std::uint32_t>(seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const std::uint32_t high0 = __umulhi(0xD2511F53U, c0);
    const std::uint32_t low0 = 0xD2511F53U * c0;
    const std::uint32_t high2 = __umulhi(0xCD9E8D57U, c2);
    const std::uint32_t low2 = 0xCD9E8D57U * c2;
    c0 = high2 ^ c1 ^ k0;
    c1 = low2;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  return {{c0, c1, c2, c3}};
}

/// Standard normal, as `random_normal`, up to the rounding of logarithm and cosine.
__device__ __forceinline__ double normal(const RandomBits& bits) {
  const std::uint64_t second = (static_cast<std::uint64_t>(bits.word[2]) << 32) | bits.word[3];
  const double radius_uniform = static_cast<double>(bits.uniform_53() + 1) * 0x1.0p-53;
  const double angle_uniform = static_cast<double>(second >> 11) * 0x1.0p-53;
  return sqrt(-2.0 * log(radius_uniform)) * cos(2.0 * 3.141592653589793 * angle_uniform);
}

}  // namespace boolgrad::cuda
