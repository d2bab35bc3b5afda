#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boolgrad/backend/cpu/bits/bit_transpose.cpp"
#include <hwy/foreach_target.h>
// The vector functions need the macros of the line above.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "boolgrad/backend/cpu/bits/bit_transpose.h"

HWY_BEFORE_NAMESPACE();
namespace boolgrad::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::CappedTag<std::uint64_t, strip_words>;
using Vec = hn::Vec<Words>;
// Single bytes need no masks.
#if HWY_TARGET != HWY_SCALAR
using Bytes = hn::CappedTag<std::uint8_t, 64>;
#endif

/// Eight interleaved matrices of 64 by 64 bits: word b of line k is line k of matrix b.
struct alignas(64) Tile {
  std::uint64_t lines[64][strip_words];
};

/// Swaps the off-diagonal blocks of two lines that are `shift` apart.
template <int shift>
HWY_INLINE void Exchange(Vec mask, Vec& low, Vec& high) {
  const Vec different = hn::And(hn::Xor(hn::ShiftRight<shift>(low), high), mask);
  high = hn::Xor(high, different);
  low = hn::Xor(low, hn::ShiftLeft<shift>(different));
}

/// Swaps at two distances while the lines are in registers.
template <int far>
HWY_INLINE void ExchangeTwice(std::uint64_t far_mask, std::uint64_t near_mask, Tile& tile) {
  constexpr int near = far / 2;
  const Words d;
  const Vec far_masks = hn::Set(d, far_mask);
  const Vec near_masks = hn::Set(d, near_mask);
  for (std::size_t first = 0; first < 64; first += 2 * far) {
    for (std::size_t k = first; k < first + near; ++k) {
      for (std::size_t i = 0; i < strip_words; i += hn::Lanes(d)) {
        Vec a = hn::Load(d, tile.lines[k] + i);
        Vec b = hn::Load(d, tile.lines[k + near] + i);
        Vec c = hn::Load(d, tile.lines[k + far] + i);
        Vec e = hn::Load(d, tile.lines[k + far + near] + i);
        Exchange<far>(far_masks, a, c);
        Exchange<far>(far_masks, b, e);
        Exchange<near>(near_masks, a, b);
        Exchange<near>(near_masks, c, e);
        hn::Store(a, d, tile.lines[k] + i);
        hn::Store(b, d, tile.lines[k + near] + i);
        hn::Store(c, d, tile.lines[k + far] + i);
        hn::Store(e, d, tile.lines[k + far + near] + i);
      }
    }
  }
}

/// Transposes all matrices.
void Transpose(Tile& tile) {
  ExchangeTwice<32>(0x00000000FFFFFFFF, 0x0000FFFF0000FFFF, tile);
  ExchangeTwice<8>(0x00FF00FF00FF00FF, 0x0F0F0F0F0F0F0F0F, tile);
  ExchangeTwice<2>(0x3333333333333333, 0x5555555555555555, tile);
}

/// The mask of nonzero bytes among 64.
HWY_INLINE std::uint64_t BitsOfBytes(const std::uint8_t* bytes) {
  std::uint64_t word = 0;
#if HWY_TARGET == HWY_SCALAR
  for (std::size_t i = 0; i < 64; ++i) word |= std::uint64_t{bytes[i] != 0} << i;
#else
  const Bytes d;
  std::array<std::uint8_t, 8> bits{};
  for (std::size_t i = 0; i < 64; i += hn::Lanes(d)) {
    hn::StoreMaskBits(d, hn::Ne(hn::LoadU(d, bytes + i), hn::Zero(d)), bits.data() + i / 8);
  }
  std::memcpy(&word, bits.data(), sizeof word);
#endif
  return word;
}

HWY_INLINE void BytesOfBits(std::uint64_t word, std::uint8_t* bytes) {
#if HWY_TARGET == HWY_SCALAR
  for (std::size_t i = 0; i < 64; ++i) bytes[i] = static_cast<std::uint8_t>(word >> i & 1);
#else
  const Bytes d;
  // Masks may be loaded as words of eight bytes.
  std::array<std::uint8_t, 16> bits{};
  std::memcpy(bits.data(), &word, sizeof word);
  for (std::size_t i = 0; i < 64; i += hn::Lanes(d)) {
    const auto mask = hn::LoadMaskBits(d, bits.data() + i / 8);
    hn::StoreU(hn::IfThenElseZero(mask, hn::Set(d, std::uint8_t{1})), d, bytes + i);
  }
#endif
}

// The number of blocks of 64 features that fit into the first-level cache.
constexpr std::size_t max_tiles = 8;

void PackStrip(const std::uint8_t* bytes, std::size_t stride, std::size_t samples,
               std::uint64_t* const* rows, std::size_t features) {
  std::array<Tile, max_tiles> tiles;
  const std::size_t words = (samples + 63) / 64;
  for (std::size_t begin = 0; begin < features; begin += 64 * max_tiles) {
    const std::size_t count = std::min(features - begin, 64 * max_tiles);
    const std::size_t whole = count / 64;
    const std::size_t rest = count % 64;
    if (samples < strip_samples) std::memset(tiles.data(), 0, sizeof tiles);
    for (std::size_t s = 0; s < samples; ++s) {
      const std::uint8_t* sample = bytes + s * stride + begin;
      for (std::size_t t = 0; t < whole; ++t) {
        tiles[t].lines[s % 64][s / 64] = BitsOfBytes(sample + 64 * t);
      }
      if (rest > 0) {
        std::array<std::uint8_t, 64> padded{};
        std::memcpy(padded.data(), sample + 64 * whole, rest);
        tiles[whole].lines[s % 64][s / 64] = BitsOfBytes(padded.data());
      }
    }
    for (std::size_t f = 0; f < count; ++f) {
      Tile& tile = tiles[f / 64];
      if (f % 64 == 0) Transpose(tile);
      std::uint64_t* row = rows[begin + f];
      if (row != nullptr) std::memcpy(row, tile.lines[f % 64], words * sizeof(std::uint64_t));
    }
  }
}

/// Transposes up to 64 rows of a strip, so that samples are lines.
void GatherTile(const std::uint64_t* const* rows, std::size_t count, std::size_t words,
                Tile& tile) {
  std::memset(&tile, 0, sizeof tile);
  for (std::size_t f = 0; f < count; ++f) {
    std::memcpy(tile.lines[f], rows[f], words * sizeof(std::uint64_t));
  }
  Transpose(tile);
}

void UnpackStrip(const std::uint64_t* const* rows, std::size_t features, std::size_t samples,
                 std::uint8_t* bytes, std::size_t stride) {
  Tile tile;
  for (std::size_t begin = 0; begin < features; begin += 64) {
    const std::size_t count = std::min<std::size_t>(64, features - begin);
    GatherTile(rows + begin, count, (samples + 63) / 64, tile);
    for (std::size_t s = 0; s < samples; ++s) {
      std::uint8_t* to = bytes + s * stride + begin;
      if (count == 64) {
        BytesOfBits(tile.lines[s % 64][s / 64], to);
        continue;
      }
      std::array<std::uint8_t, 64> padded{};
      BytesOfBits(tile.lines[s % 64][s / 64], padded.data());
      std::memcpy(to, padded.data(), count);
    }
  }
}

void UnpackNumbers(const std::uint64_t* const* planes, std::size_t count, std::size_t samples,
                   std::int32_t* numbers, std::size_t stride) {
  Tile tile;
  GatherTile(planes, count, (samples + 63) / 64, tile);
  for (std::size_t s = 0; s < samples; ++s) {
    numbers[s * stride] = static_cast<std::int32_t>(tile.lines[s % 64][s / 64]);
  }
}

}  // namespace boolgrad::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boolgrad::cpu {

HWY_EXPORT(PackStrip);
HWY_EXPORT(UnpackStrip);
HWY_EXPORT(UnpackNumbers);

void pack_strip(const std::uint8_t* bytes, std::size_t stride, std::size_t samples,
                std::span<std::uint64_t* const> rows) {
  HWY_DYNAMIC_DISPATCH(PackStrip)(bytes, stride, samples, rows.data(), rows.size());
}

void unpack_strip(std::span<const std::uint64_t* const> rows, std::size_t samples,
                  std::uint8_t* bytes, std::size_t stride) {
  HWY_DYNAMIC_DISPATCH(UnpackStrip)(rows.data(), rows.size(), samples, bytes, stride);
}

void unpack_numbers(std::span<const std::uint64_t* const> planes, std::size_t samples,
                    std::int32_t* numbers, std::size_t stride) {
  HWY_DYNAMIC_DISPATCH(UnpackNumbers)(planes.data(), planes.size(), samples, numbers, stride);
}

}  // namespace boolgrad::cpu
#endif
