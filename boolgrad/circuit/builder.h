// Builds netlists from literals. Complements are absorbed by the tables that read them.
#pragma once

#include <map>
#include <span>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/circuit/table.h"

namespace boolgrad::circuit {

/// Adds gates to a netlist. Node 0 of a literal is the constant 0, node 1 + n is net n.
class NetlistBuilder {
 public:
  /// Starts an empty netlist with the name, inputs, outputs and state of `like`.
  explicit NetlistBuilder(const Netlist& like);

  /// The literal of an input.
  BitLiteral input(std::size_t index) const {
    return BitLiteral(static_cast<std::uint32_t>(index) + 1);
  }
  /// Adds a gate without simplification. A complemented output is returned as a complemented
  /// literal.
  BitLiteral add(const TableGate& gate);

  /// The finished netlist. A complemented output inverts the table of its driver, or gets an
  /// inverter if the driver is an input or is also read uncomplemented by another output. A
  /// constant output gets a table without inputs.
  Netlist finish(std::span<const BitLiteral> outputs);

 private:
  void invert_drivers(std::span<BitLiteral> outputs);
  Net net_of(BitLiteral output);
  Net add_gate(const NetlistGate& gate);

  Netlist netlist_;
  std::map<BitLiteral, Net> made_for_outputs_;  ///< inverters and constants
};

}  // namespace boolgrad::circuit
