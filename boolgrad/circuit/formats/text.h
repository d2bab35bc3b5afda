// The text form of netlists, for people and programs; docs/circuits.md describes it.
#pragma once

#include <string>
#include <string_view>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad {

std::string to_text(const Netlist& netlist);

/// The netlist that a text describes. Errors name `file` and the line.
Netlist netlist_from_text(std::string_view text, const std::string& file);

}  // namespace boolgrad
