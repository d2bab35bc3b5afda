// Hardening: the rule of a cell as a netlist or circuit.
#pragma once

#include <vector>

#include "boolgrad/automata/rule.h"
#include "boolgrad/circuit/bits/bit_circuit.h"
#include "boolgrad/circuit/netlist.h"
#include "boolgrad/logic/gate_sink.h"

namespace boolgrad::automata {

/// Emits one step of a cell of the hardened rule. Input 9 c + n is neighbour n of channel c
/// (row-major, 4 is the cell itself), output c is the next state of channel c. Perception is
/// emitted channel by channel, then the update.
std::vector<logic::Signal> emit(const Rule& rule, const std::vector<logic::Signal>& inputs,
                                logic::GateSink& sink);

/// The hardened rule as a netlist, one table per gate, nothing simplified. Input c2_n4 is neighbour
/// 4 of channel 2, output c2 is the next state of channel 2.
circuit::Netlist harden(const Rule& rule);

/// The hardened rule as a circuit of AND and XOR gates. Building the circuit simplifies it.
circuit::BitCircuit hardened_circuit(const Rule& rule);

}  // namespace boolgrad::automata
