// Straight-line programs of bitwise operations, as kernels of all devices read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace boolgrad {

/// The first operation of a step, which combines operands a and b to v.
enum class BitInner : std::uint8_t {
  conjunction,   ///< a AND b
  difference,    ///< a AND NOT b
  disjunction,   ///< a OR b
  exclusive_or,  ///< a XOR b
};
inline constexpr std::size_t bit_inners = 4;

/// The second operation of a step, which combines v and operand c. Some operations ignore c.
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

/// A step of the program. Operands are slots in the scratch memory. `out` may equal an operand.
struct BitStep {
  std::uint32_t out = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
};

/// A run of `count` consecutive steps with the same operations.
struct BitRun {
  BitInner inner = BitInner::conjunction;
  BitOuter outer = BitOuter::same;
  std::uint32_t count = 0;
};

/// An input or output of the program, and the slot that it is copied to or from.
struct BitPort {
  std::uint32_t index = 0;
  std::uint32_t slot = 0;
  bool complemented = false;  ///< outputs only
};

/// A constant output.
struct BitConstant {
  std::uint32_t output = 0;
  bool value = false;
};

/// A slot, or its complement, that is counted.
struct BitTerm {
  std::uint32_t slot = 0;
  bool complemented = false;
};

/// A non-owning view of a program: the arguments of the kernels.
struct BitProgramView {
  std::span<const BitPort> inputs;
  std::span<const BitRun> runs;
  std::span<const BitStep> steps;
  std::span<const BitPort> outputs;
  std::span<const BitConstant> constants;  ///< outputs without a slot
  std::size_t slots = 0;
  std::size_t row_words = 0;  ///< words per slot: a power of two within the limits below
};

inline constexpr std::size_t min_row_words = 8;
inline constexpr std::size_t max_row_words = 64;

}  // namespace boolgrad
