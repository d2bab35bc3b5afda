// Cut rewriting: replaces four-input cuts by optimal implementations.
#pragma once

#include <cstdint>

#include "boolgrad/circuit/bits/bit_circuit.h"

namespace boolgrad::circuit {

/// Options of `rewrite_cuts`.
struct RewritingParams {
  std::size_t max_cuts = 10;  ///< per node, of up to four leaves
  int max_rounds = 40;        ///< over the whole circuit
  /// Stops after so many consecutive rounds without improvement. These rounds also take
  /// replacements of equal cost at random, which can enable later improvements.
  int max_idle_rounds = 4;
  /// Limits the gates visited in all rounds: large circuits get fewer rounds, but at least one. The
  /// first round brings most of the improvement.
  std::int64_t max_visits = 1'000'000;

  /// The number of rounds for a circuit of so many gates.
  int rounds_for(std::int64_t gates) const;
};

/// An equivalent circuit with no more gates. For every node and each of its cuts, the optimal
/// implementations of the cut function are tried. Existing gates are free, and the gates that only
/// the old implementation needs count as saved.
BitCircuit rewrite_cuts(const BitCircuit& circuit, const RewritingParams& params = {});

}  // namespace boolgrad::circuit
