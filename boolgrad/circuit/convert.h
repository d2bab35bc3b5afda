// Netlists as circuits of AND and XOR, and back.
#pragma once

#include <cstdint>

#include "boolgrad/circuit/bits/bit_circuit.h"
#include "boolgrad/circuit/netlist.h"

namespace boolgrad {

/// The same function as AND and XOR, which simplifies itself on the way.
BitCircuit bit_circuit_of(const Netlist& netlist);

/// The gates that a circuit's outputs need as tables of two inputs, with the names and the state of
/// `like`.
Netlist netlist_of(const BitCircuit& circuit, const Netlist& like);

/// Tables with inputs that `netlist_of` makes of a circuit, and their depth: the gates that the
/// outputs need, and inverters for complements that cannot go into a table. Without making it.
std::int64_t netlist_gate_count(const BitCircuit& circuit);
std::int64_t netlist_depth(const BitCircuit& circuit);

}  // namespace boolgrad
