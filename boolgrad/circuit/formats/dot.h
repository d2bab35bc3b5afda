// DOT graphs for Graphviz.
#pragma once

#include <string>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad::circuit {

/// A graph from inputs on the left to outputs on the right. Two-input gates are labelled with their
/// name, others with their table, entry 0 first.
std::string to_dot(const Netlist& netlist);

}  // namespace boolgrad::circuit
