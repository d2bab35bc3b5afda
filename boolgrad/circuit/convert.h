// Netlists as circuits of AND and XOR, and back.
#pragma once

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/circuit/bits/bit_circuit.h"

namespace boolgrad {

/// The same function as AND and XOR, which simplifies itself on the way.
BitCircuit bit_circuit_of(const Netlist& netlist);

/// The gates that a circuit's outputs need as tables of two inputs, with the names and the state of
/// `like`.
Netlist netlist_of(const BitCircuit& circuit, const Netlist& like);

}  // namespace boolgrad
