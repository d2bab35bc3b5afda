// The order of inputs and outputs, by their names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad::circuit {

/// The circuit with its inputs and outputs in the order of these names; none unless it has the same
/// names.
std::optional<Netlist> with_port_order(const Netlist& netlist,
                                       const std::vector<std::string>& inputs,
                                       const std::vector<std::string>& outputs);

}  // namespace boolgrad::circuit
