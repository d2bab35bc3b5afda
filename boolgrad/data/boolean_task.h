// Boolean functions written out case by case, to be learned.
#pragma once

#include <cstdint>
#include <string>

#include "boolgrad/data/task_kind.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// A table of cases, one sample each.
struct BooleanTask {
  std::string name;
  Tensor inputs;   ///< uint8 [inputs, cases], 0 or 1
  Tensor targets;  ///< uint8 [outputs, cases], 0 or 1

  std::int64_t input_count() const { return inputs.shape()[0]; }
  std::int64_t output_count() const { return targets.shape()[0]; }
  std::int64_t cases() const { return inputs.shape()[1]; }
};

/// Inputs that a task may have: all 2^bits cases are written out.
inline constexpr int most_task_bits = 20;

/// Function `kind`, up to `popcount`, of `bits` inputs, over all cases. Numbers have their lowest
/// bit first. Functions of two numbers take them from the two halves of the input, the first from
/// the low bits:
///
///   multiply  a b, in as many bits as come in     add       a + b, with the carry
///   and, xor  bit by bit                          parity    whether the number of ones is odd
///   reverse   the first bit becomes the last      copy      the input itself
///   gray      x xor x/2, the Gray code            popcount  the number of ones
BooleanTask boolean_task(TaskKind kind, int bits);

}  // namespace boolgrad
