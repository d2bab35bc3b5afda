// How trainable numbers become truth tables. Plain C++17: kernels read it too.
#pragma once

#include <cstdint>

namespace boolgrad {

/// A table has one entry for every assignment of a gate's inputs: bit j of an entry's index is the
/// value of input j.
enum class Parametrisation : std::uint8_t {
  softmax16,  ///< 16 logits per gate of two inputs, one for each of the sixteen gates
  sigmoid,    ///< one logit per entry
  walsh,      ///< one coefficient per entry; an entry's logit is a signed sum of them
};

/// Logits per gate: 16, or 2^arity.
constexpr std::int64_t logit_count(Parametrisation parametrisation, int arity) {
  return parametrisation == Parametrisation::softmax16 ? 16 : std::int64_t{1} << arity;
}

}  // namespace boolgrad
