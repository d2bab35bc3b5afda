// DOT graphs for Graphviz.
#pragma once

#include <string>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad::circuit {

/// A graph from inputs on the left to outputs on the right, with a column per level of up to 500
/// gates, and frames around the bits of a bus. Two-input gates are labelled with their name, others
/// with their table, entry 0 first; the inputs of gates that are not symmetric with letters.
std::string to_dot(const Netlist& netlist);

}  // namespace boolgrad::circuit
