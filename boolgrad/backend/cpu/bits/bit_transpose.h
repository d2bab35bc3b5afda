// Bits of samples between bytes, one a feature of a sample, and words of 64 samples of a feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace boolgrad::cpu {

/// What the functions below take at a time: the words of a strip, and its samples.
inline constexpr std::size_t strip_words = 8;
inline constexpr std::size_t strip_samples = 64 * strip_words;

/// Packs `samples` (at most a strip) rows of bytes, `stride` bytes apart. Feature f goes to
/// rows[f], or nowhere where that is null: bit s % 64 of word s / 64 is 1 where the byte of sample
/// s is not 0. Only the words that the samples need are written; bits beyond the last sample are 0.
void pack_strip(const std::uint8_t* bytes, std::size_t stride, std::size_t samples,
                std::span<std::uint64_t* const> rows);

/// The way back: each byte becomes 0 or 1. `rows` are read as far as the samples need it.
void unpack_strip(std::span<const std::uint64_t* const> rows, std::size_t samples,
                  std::uint8_t* bytes, std::size_t stride);

/// Numbers whose binary digits lie in `planes`, at most 31 of them, the lowest first: numbers[s *
/// stride] is the one of sample s.
void unpack_numbers(std::span<const std::uint64_t* const> planes, std::size_t samples,
                    std::int32_t* numbers, std::size_t stride);

}  // namespace boolgrad::cpu
