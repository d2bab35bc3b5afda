// Look-up tables as AND gates, at the costs that standard cells have.
#pragma once

#include <cstdint>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad::circuit {

/// The same netlist with tables of three and more inputs as AND, OR and XOR gates of two inputs. An
/// XOR counts as three gates, as it does in cells and in and-inverter graphs, and not as one as in
/// `decompose`. Splits use that most trained tables rise or fall with each of their inputs.
Netlist decompose_for_cells(const Netlist& netlist);

/// The form of a circuit that needs less area as cells, by the number of gates in which an XOR
/// counts three times: `gates`, or `tables` by `decompose_for_cells`. Both are the same function.
Netlist form_for_cells(const Netlist& tables, const Netlist& gates);

}  // namespace boolgrad::circuit
