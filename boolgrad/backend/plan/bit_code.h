// Straight-line programs on words of 64 samples, as kernels of any device read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace boolgrad {

/// How a step joins its first two operands into v ...
enum class BitInner : std::uint8_t {
  conjunction,   ///< a AND b
  difference,    ///< a AND NOT b
  disjunction,   ///< a OR b
  exclusive_or,  ///< a XOR b
};
inline constexpr std::size_t bit_inners = 4;

/// ... and v with the third, which is read only where it is named here.
enum class BitOuter : std::uint8_t {
  same,          ///< v
  complement,    ///< NOT v
  conjunction,   ///< v AND c
  without,       ///< v AND NOT c
  outside,       ///< NOT v AND c
  neither,       ///< NOT v AND NOT c
  exclusive_or,  ///< v XOR c
  equal,         ///< NOT (v XOR c)
};
inline constexpr std::size_t bit_outers = 8;

/// Operands are slots: rows of scratch. `out` may be one of the slots that are read.
struct BitStep {
  std::uint32_t out = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
};

/// The next `count` steps, all of one kind.
struct BitRun {
  BitInner inner = BitInner::conjunction;
  BitOuter outer = BitOuter::same;
  std::uint32_t count = 0;
};

/// What crosses the border of a program: an input or output, and the slot it is copied to or from.
struct BitPort {
  std::uint32_t index = 0;
  std::uint32_t slot = 0;
  bool complemented = false;  ///< outputs only
};

/// An output that is the same for all samples.
struct BitConstant {
  std::uint32_t output = 0;
  bool value = false;
};

/// A slot that is counted, or its complement.
struct BitTerm {
  std::uint32_t slot = 0;
  bool complemented = false;
};

struct BitCode {
  std::span<const BitPort> inputs;
  std::span<const BitRun> runs;
  std::span<const BitStep> steps;
  std::span<const BitPort> outputs;
  std::span<const BitConstant> constants;  ///< the outputs that no slot holds
  std::size_t slots = 0;
  std::size_t row_words = 0;  ///< of a slot: a power of two between the two below
};

inline constexpr std::size_t least_row_words = 8;
inline constexpr std::size_t most_row_words = 64;

}  // namespace boolgrad
