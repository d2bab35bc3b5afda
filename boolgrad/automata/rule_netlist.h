// What a cell of a hardened automaton computes, as gates.
#pragma once

#include <vector>

#include "boolgrad/automata/rule.h"
#include "boolgrad/circuit/bits/bit_circuit.h"
#include "boolgrad/circuit/netlist.h"
#include "boolgrad/logic/gate_sink.h"

namespace boolgrad {

/// Emits one step of a cell of the hardened rule: input 9 c + n is neighbour n of channel c
/// (row-major, 4 the cell itself), output c the next state of channel c. Perception is emitted for
/// one channel after the other, then the update, each as `emit` of its network does.
std::vector<Signal> emit(const Rule& rule, const std::vector<Signal>& inputs, GateSink& sink);

/// The rule as it was trained, nothing simplified: input c2_n4 is neighbour 4 of channel 2, output
/// c2 its next state.
Netlist netlist_of(const Rule& rule);

/// The same function as a circuit, which simplifies itself on the way.
BitCircuit hardened_circuit(const Rule& rule);

}  // namespace boolgrad
