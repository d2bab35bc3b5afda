// Netlists as DOT, to be drawn by Graphviz.
#pragma once

#include <string>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad {

/// A graph from inputs on the left to outputs on the right. Gates of two inputs are called by their
/// name, others by their table, entry 0 first.
std::string to_dot(const Netlist& netlist);

}  // namespace boolgrad
