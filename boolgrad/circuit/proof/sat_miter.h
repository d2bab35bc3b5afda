// Equivalence by SAT: both netlists in one solver, merged from the inputs up.
#pragma once

#include <optional>

#include "boolgrad/circuit/proof/equivalence.h"

namespace boolgrad {

/// As `difference`, by SAT.
std::optional<Counterexample> sat_difference(const Netlist& a, const Netlist& b,
                                             const EquivalenceParams& params,
                                             EquivalenceStats& stats);

}  // namespace boolgrad
