// The text format of netlists, which docs/circuits.md describes.
#pragma once

#include <string>
#include <string_view>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad::circuit {

/// Writes the text format.
std::string to_text(const Netlist& netlist);

/// Reads the text format. Errors name `file` and the line.
Netlist netlist_from_text(std::string_view text, const std::string& file);

}  // namespace boolgrad::circuit
