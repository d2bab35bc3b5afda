// Parametrisations of truth tables. Plain C++17, shared with device kernels.
#pragma once

#include <cstdint>

namespace boolgrad {

/// How trainable parameters become truth tables. A table has one entry per assignment of the gate's
/// inputs: bit j of the entry index is the value of input j.
enum class Parametrisation : std::uint8_t {
  softmax16,  ///< two-input gates: 16 logits, one for each of the sixteen Boolean functions
  sigmoid,    ///< one logit per table entry
  walsh,      ///< one Walsh coefficient per table entry; an entry's logit is a signed sum of them
};

/// The number of parameters per gate: 16, or 2^arity.
constexpr std::int64_t logit_count(Parametrisation parametrisation, int arity) {
  return parametrisation == Parametrisation::softmax16 ? 16 : std::int64_t{1} << arity;
}

}  // namespace boolgrad
