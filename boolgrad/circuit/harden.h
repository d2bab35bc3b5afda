// Hardening: trained networks as netlists and circuits.
#pragma once

#include "boolgrad/circuit/bits/bit_circuit.h"
#include "boolgrad/circuit/netlist.h"
#include "boolgrad/logic/network.h"

namespace boolgrad::circuit {

/// The hardened network as a netlist: one table per gate, masks applied, nothing simplified. Inputs
/// are named x0, x1, ... and outputs y0, y1, ...
Netlist harden(const logic::Network& network);

/// The hardened network as a circuit of AND and XOR gates. Building the circuit simplifies it.
BitCircuit hardened_circuit(const logic::Network& network);

}  // namespace boolgrad::circuit
