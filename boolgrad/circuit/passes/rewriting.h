// Small parts of a circuit put in their best form.
#pragma once

#include <cstdint>

#include "boolgrad/circuit/bits/bit_circuit.h"

namespace boolgrad {

struct RewritingParams {
  std::size_t most_cuts = 10;  ///< a node, of up to four inputs each
  int most_rounds = 40;        ///< over the whole circuit
  /// Rounds in a row without a gate less after which it ends. Between them forms that cost the same
  /// take each other's place, which makes room for others.
  int most_idle_rounds = 4;
};

/// The same function in no more gates. In every node's place the best form of what it is of four
/// nodes below it is tried; gates that are there already cost nothing, and those count as saved
/// that only the node's old form needs.
BitCircuit cuts_rewritten(const BitCircuit& circuit, const RewritingParams& params = {});

}  // namespace boolgrad
