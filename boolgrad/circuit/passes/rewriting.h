// Small parts of a circuit put in their best form.
#pragma once

#include <cstdint>

#include "boolgrad/circuit/bits/bit_circuit.h"

namespace boolgrad {

struct RewritingParams {
  std::size_t max_cuts = 10;  ///< a node, of up to four inputs each
  int max_rounds = 40;        ///< over the whole circuit
  /// Rounds in a row without a gate less after which it ends. Between them forms that cost the same
  /// take each other's place, which makes room for others.
  int max_idle_rounds = 4;
  /// Gates looked at in all rounds together: large circuits get fewer rounds, at least one. Most of
  /// what there is to gain is gained in the first.
  std::int64_t max_visits = 1'000'000;

  /// The rounds that a circuit of so many gates gets.
  int rounds_for(std::int64_t gates) const;
};

/// The same function in no more gates. In every node's place the best form of what it is of four
/// nodes below it is tried; gates that are there already cost nothing, and those count as saved
/// that only the node's old form needs.
BitCircuit cuts_rewritten(const BitCircuit& circuit, const RewritingParams& params = {});

}  // namespace boolgrad
