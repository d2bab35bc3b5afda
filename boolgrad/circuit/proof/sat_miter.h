// Equivalence checking by SAT sweeping: both netlists in one solver, merged from the inputs up.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "boolgrad/circuit/bits/bit_circuit.h"
#include "boolgrad/circuit/proof/equivalence.h"

namespace boolgrad::circuit {

/// `difference` by SAT sweeping.
std::optional<Counterexample> sat_difference(const Netlist& a, const Netlist& b,
                                             const EquivalenceParams& params,
                                             EquivalenceStats& stats);

/// What a solver has proven of the nets of a circuit.
struct NetFacts {
  /// For each net a literal; nets with the same literal are equal. Node 0 is the constant 0.
  std::vector<BitLiteral> classes;
  /// For each gate, the entries of its table that some input may read. All others are unreachable.
  std::vector<std::uint64_t> reads;
};

/// Proves nets equal, and entries of tables unreachable, by the method of `sat_difference`. What
/// the conflict limit leaves undecided does not count as proven, and neither does anything after
/// `max_queries` queries for entries.
NetFacts prove_net_facts(const Netlist& netlist, const EquivalenceParams& params = {},
                         std::int64_t max_queries = 20000);

}  // namespace boolgrad::circuit
