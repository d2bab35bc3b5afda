// Trained models as netlists, gate by gate.
#pragma once

#include "boolgrad/automata/rule.h"
#include "boolgrad/circuit/netlist.h"
#include "boolgrad/logic/network.h"

namespace boolgrad {

/// The hardened network as it was trained, every gate a table, masks included and nothing
/// simplified: inputs x0, x1, ... and outputs y0, y1, ...
Netlist netlist_of(const LogicNetwork& network);

/// What a cell of the hardened automaton computes in a step, all channels together: input c2_n4 is
/// neighbour 4 of channel 2, output c2 its next state. Perception is there once a channel.
Netlist netlist_of(const Rule& rule);

}  // namespace boolgrad
