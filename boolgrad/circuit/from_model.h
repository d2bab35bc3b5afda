// Trained networks as netlists and circuits.
#pragma once

#include "boolgrad/circuit/bits/bit_circuit.h"
#include "boolgrad/circuit/netlist.h"
#include "boolgrad/logic/network.h"

namespace boolgrad {

/// The hardened network as it was trained, every gate a table, masks included and nothing
/// simplified: inputs x0, x1, ... and outputs y0, y1, ...
Netlist netlist_of(const LogicNetwork& network);

/// The same function as a circuit, which simplifies itself on the way.
BitCircuit hardened_circuit(const LogicNetwork& network);

}  // namespace boolgrad
