// Netlists built from literals: complements go into the tables that read them.
#pragma once

#include <map>
#include <span>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/circuit/table.h"

namespace boolgrad {

/// Adds gates to a netlist. A literal of node 0 is a constant, one of node 1 + n net n.
class NetlistBuilder {
 public:
  /// A netlist of the same name, inputs, outputs and state.
  explicit NetlistBuilder(const Netlist& like);

  BitLiteral input(std::size_t index) const {
    return BitLiteral(static_cast<std::uint32_t>(index) + 1);
  }
  /// A gate as it is; its complement, if it has one, is the literal's.
  BitLiteral add(const TableGate& gate);

  /// The netlist. An output that reads a complement turns the table of its driver around, or gets
  /// an inverter where an input or another output needs it plain; one that reads a constant gets
  /// a table without inputs.
  Netlist finish(std::span<const BitLiteral> outputs);

 private:
  void turn_around(std::span<BitLiteral> outputs);
  Net net_of(BitLiteral output);
  Net add_gate(const NetlistGate& gate);

  Netlist netlist_;
  std::map<BitLiteral, Net> made_for_outputs_;  ///< inverters and constants
};

}  // namespace boolgrad
