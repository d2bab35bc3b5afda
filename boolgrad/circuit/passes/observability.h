// Gates made simpler where no output tells the difference.
#pragma once

#include <cstddef>
#include <cstdint>

#include "boolgrad/circuit/bits/bit_circuit.h"

namespace boolgrad {

struct ObservabilityParams {
  /// Circuits of more inputs, and larger ones, are left as they are: every gate is turned around in
  /// every case to see which outputs notice.
  std::int64_t max_inputs = 12;
  std::int64_t max_gates = 4000;
  std::size_t max_partners = 150;  ///< tried in pairs
};

/// The same outputs in no more gates. What a gate says matters only in the cases in which an output
/// would change with it; something that agrees with it there takes its place: a constant, another
/// node, or one gate of two others where it alone keeps two or more alive.
BitCircuit observed_only(const BitCircuit& circuit, const ObservabilityParams& params = {});

}  // namespace boolgrad
