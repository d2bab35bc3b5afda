// Equivalence checking by SAT sweeping: both netlists in one solver, merged from the inputs up.
#pragma once

#include <optional>

#include "boolgrad/circuit/proof/equivalence.h"

namespace boolgrad::circuit {

/// `difference` by SAT sweeping.
std::optional<Counterexample> sat_difference(const Netlist& a, const Netlist& b,
                                             const EquivalenceParams& params,
                                             EquivalenceStats& stats);

}  // namespace boolgrad::circuit
