// Combinational equivalence checking of netlists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad::circuit {

/// Options of `difference`.
struct EquivalenceParams {
  /// Up to so many inputs, all input combinations are simulated. Beyond, a SAT solver decides.
  std::size_t max_exhaustive_inputs = 24;
  /// The conflict limit of the solver for internal equivalences. Outputs are decided without limit.
  int max_conflicts = 200;
  /// Records a proof in the statistics. The solver then decides for any number of inputs.
  bool record_proof = false;
};

/// An input for which two netlists differ.
struct Counterexample {
  std::vector<bool> inputs;
  std::size_t output = 0;  ///< the first output that differs
};

/// A proof of equivalence for independent checkers such as drat-trim.
struct EquivalenceProof {
  /// That an output differs, as DIMACS CNF: a clause per row of every table of both netlists.
  std::string formula;
  /// The refutation, as DRAT without deletions: clauses that follow by unit propagation, up to the
  /// empty one.
  std::string steps;
};

/// Statistics of `difference`.
struct EquivalenceStats {
  bool exhaustive = false;  ///< exhaustive simulation, else SAT
  std::int64_t solver_calls = 0;
  std::int64_t merged = 0;  ///< internal nets proven equal and merged
  EquivalenceProof proof;   ///< empty unless it was asked for and the netlists are equivalent
};

/// Proves two netlists equivalent, and returns nothing, or finds a counterexample. Inputs and
/// outputs are matched by order, not by name. Throws if their numbers differ.
std::optional<Counterexample> difference(const Netlist& a, const Netlist& b,
                                         const EquivalenceParams& params = {},
                                         EquivalenceStats* stats = nullptr);

/// Throws with a counterexample unless the two netlists are equivalent. `what` names `other` in the
/// message.
void expect_equivalent(const Netlist& original, const Netlist& other, std::string_view what,
                       const EquivalenceParams& params = {});

}  // namespace boolgrad::circuit
