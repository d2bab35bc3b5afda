// IEEE half precision as a storage type. Arithmetic is done in float.
#pragma once

#include <bit>
#include <cstdint>

namespace boolgrad {

/// A 16-bit float: 1 sign, 5 exponent and 10 fraction bits. The largest finite value is 65504.
struct Float16 {
  std::uint16_t bits = 0;  ///< the encoding

  Float16() = default;
  /// Rounds to nearest, ties to even; overflows to infinity; keeps NaN.
  explicit Float16(float value) : bits(round(value)) {}
  /// Converts exactly.
  explicit operator float() const { return widen(bits); }

  /// Compares as floats: -0 equals 0, NaN equals nothing.
  friend bool operator==(Float16 a, Float16 b) { return float(a) == float(b); }

  static constexpr float largest = 65504.0F;  ///< the largest finite value

 private:
  static std::uint16_t round(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>((word >> 16) & 0x8000U);
    const std::uint32_t magnitude = word & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U) return sign | 0x7E00U;   // NaN
    if (magnitude >= 0x477FF000U) return sign | 0x7C00U;  // 65520 and above round to infinity
    if (magnitude < 0x38800000U) {
      // Below 2^-14 the result is subnormal. Adding 0.5 aligns the value so that the float adder
      // itself rounds it to a multiple of 2^-24, and leaves that multiple in the low bits.
      const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
      return static_cast<std::uint16_t>(sign |
                                        (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U));
    }
    const std::uint32_t rounded = magnitude + 0xFFFU + ((magnitude >> 13) & 1U);
    return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13));
  }

  static float widen(std::uint16_t half) {
    const std::uint32_t sign = (half & 0x8000U) << 16;
    const std::uint32_t exponent = (half >> 10) & 0x1FU;
    const std::uint32_t fraction = half & 0x3FFU;
    if (exponent == 0) {
      const float magnitude = static_cast<float>(fraction) * 0x1.0p-24F;
      return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
    }
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000U | (fraction << 13));
    return std::bit_cast<float>(sign | ((exponent + 112U) << 23) | (fraction << 13));
  }
};
static_assert(sizeof(Float16) == 2);

}  // namespace boolgrad
