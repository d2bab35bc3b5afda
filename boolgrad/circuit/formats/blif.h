// Netlists as BLIF, the Berkeley Logic Interchange Format.
#pragma once

#include <string>
#include <string_view>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad {

/// Names of nets become letters, digits and underscores; inputs and outputs keep their order. What
/// makes a netlist the rule of an automaton has no place in the format.
std::string to_blif(const Netlist& netlist);

/// The one combinational model of a file, of .names with at most six inputs each. Errors name
/// `file` and the line.
Netlist netlist_from_blif(std::string_view text, const std::string& file);

}  // namespace boolgrad
