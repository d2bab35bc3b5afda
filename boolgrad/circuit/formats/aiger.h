// Netlists as AIGER: AND gates of two inputs, any of them inverted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad {

/// The two forms of the format, `aag` and `aig`.
enum class AigerForm : std::uint8_t { ascii, binary };

/// Tables become AND gates, equal ones once; names go into the symbol table. What makes a netlist
/// the rule of an automaton has no place in the format.
std::string to_aiger(const Netlist& netlist, AigerForm form);

/// The combinational circuit of a file of either form. Errors name `file`.
Netlist netlist_from_aiger(std::string_view bytes, const std::string& file);

}  // namespace boolgrad
