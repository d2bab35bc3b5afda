// Boolean functions as truth tables to learn.
#pragma once

#include <cstdint>
#include <string>

#include "boolgrad/data/task_kind.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::data {

/// A truth table with one sample per case.
struct BooleanTask {
  std::string name;
  Tensor inputs;   ///< uint8 [inputs, cases], 0 or 1
  Tensor targets;  ///< uint8 [outputs, cases], 0 or 1

  std::int64_t input_count() const { return inputs.shape()[0]; }
  std::int64_t output_count() const { return targets.shape()[0]; }
  std::int64_t cases() const { return inputs.shape()[1]; }
};

/// Maximum number of inputs: all 2^bits cases are stored.
inline constexpr int max_task_bits = 20;

/// The truth table of function `kind`, up to `popcount`, with `bits` inputs. The lowest bit of a
/// number comes first. Functions of two numbers take the first one from the lower half of the
/// inputs:
///
///   multiply  a b, with as many bits as inputs    add       a + b, with the carry
///   and, xor  bit by bit                          parity    whether the number of ones is odd
///   reverse   the first bit becomes the last      copy      the input itself
///   gray      x xor x/2, the Gray code            popcount  the number of ones
BooleanTask boolean_task(TaskKind kind, int bits);

}  // namespace boolgrad::data
