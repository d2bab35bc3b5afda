// Simplification that keeps wide tables where they need fewer gates.
#pragma once

#include <vector>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/circuit/passes/passes.h"

namespace boolgrad::circuit {

/// The netlist after the passes that keep its tables.
Netlist with_own_tables(const Netlist& netlist, SimplifyParams params = {});

/// An equivalent netlist with no more gates. It chooses the smallest of three: two-input gates
/// after all passes, the simplified tables of the netlist, and a LUT mapping of the two-input gates
/// to tables of the same arity.
Netlist simplify_tables(const Netlist& netlist, const SimplifyParams& params = {});

/// The look-up tables of up to six inputs that an FPGA needs for a netlist: the smaller of its
/// simplified tables and a LUT mapping of `gates`, the result of `simplify(netlist)`. Depth is not
/// a criterion.
Netlist cover_with_lut6(const Netlist& netlist, const Netlist& gates);

}  // namespace boolgrad::circuit
