// AIGER: and-inverter graphs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad::circuit {

/// The two variants of the format: ASCII (`aag`) and binary (`aig`).
enum class AigerFormat : std::uint8_t { ascii, binary };

/// Writes AIGER. Tables become AND gates with structural hashing, and names go into the symbol
/// table. The automaton state of a netlist is not stored.
std::string to_aiger(const Netlist& netlist, AigerFormat format);

/// Reads a combinational circuit of either variant. Errors name `file`.
Netlist netlist_from_aiger(std::string_view bytes, const std::string& file);

}  // namespace boolgrad::circuit
