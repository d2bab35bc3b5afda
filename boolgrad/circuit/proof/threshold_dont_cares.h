// Don't-cares of the encoder of a classifier: bits that its features cannot have.
#pragma once

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/logic/thresholds.h"

namespace boolgrad::circuit {

/// A netlist that is equal for all bits that features can have, and may differ for others. Nets
/// that are equal for them are merged, and gates lose inputs that matter only for entries of their
/// tables that features cannot reach. Every such step is proven by a SAT solver.
Netlist optimise_for_thresholds(const Netlist& netlist, const logic::Thresholds& thresholds);

}  // namespace boolgrad::circuit
