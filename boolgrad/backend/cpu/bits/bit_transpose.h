// Conversion between bytes, one per feature of a sample, and words of 64 samples of a feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace boolgrad::cpu {

/// The size of a strip, which the functions below process at a time, in words and in samples.
inline constexpr std::size_t strip_words = 8;
inline constexpr std::size_t strip_samples = 64 * strip_words;

/// Packs rows of bytes, `stride` bytes apart, one per sample (at most a strip). Feature f goes to
/// rows[f] unless that is null: bit s % 64 of word s / 64 is 1 if the byte of sample s is not 0.
/// Only the needed words are written; bits beyond the last sample are 0.
void pack_strip(const std::uint8_t* bytes, std::size_t stride, std::size_t samples,
                std::span<std::uint64_t* const> rows);

/// The inverse: each byte becomes 0 or 1. Only the needed words are read.
void unpack_strip(std::span<const std::uint64_t* const> rows, std::size_t samples,
                  std::uint8_t* bytes, std::size_t stride);

/// Unpacks bit-sliced integers: `planes` are at most 31 bits, the lowest first. The integer of
/// sample s goes to numbers[s * stride].
void unpack_numbers(std::span<const std::uint64_t* const> planes, std::size_t samples,
                    std::int32_t* numbers, std::size_t stride);

}  // namespace boolgrad::cpu
