// Conversion between netlists and circuits of AND and XOR gates.
#pragma once

#include <cstdint>

#include "boolgrad/circuit/bits/bit_circuit.h"
#include "boolgrad/circuit/netlist.h"

namespace boolgrad::circuit {

/// The same function as AND and XOR gates. Building the circuit simplifies it.
BitCircuit to_bit_circuit(const Netlist& netlist);

/// The reachable gates of a circuit as two-input tables, with the names and state of `like`.
Netlist to_netlist(const BitCircuit& circuit, const Netlist& like);

/// The gate count of `to_netlist(circuit)`, computed without building it. It counts reachable gates
/// and the inverters for complements that no table can absorb.
std::int64_t netlist_gate_count(const BitCircuit& circuit);
/// The depth of `to_netlist(circuit)`.
std::int64_t netlist_depth(const BitCircuit& circuit);

}  // namespace boolgrad::circuit
