// BLIF, the Berkeley Logic Interchange Format.
#pragma once

#include <string>
#include <string_view>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad::circuit {

/// Writes BLIF. Names are reduced to letters, digits and underscores. Inputs and outputs keep their
/// order. The automaton state of a netlist is not stored.
std::string to_blif(const Netlist& netlist);

/// Reads a file with one combinational model whose .names have at most six inputs. Errors name
/// `file` and the line.
Netlist netlist_from_blif(std::string_view text, const std::string& file);

}  // namespace boolgrad::circuit
