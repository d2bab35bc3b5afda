#include "boolgrad/circuit/builder.h"

#include <utility>
#include <vector>

namespace boolgrad::circuit {
namespace {

// Complements input j of a gate.
void flip_input(NetlistGate& gate, std::size_t j) {
  gate.truth = shortened(flipped(stretched(gate.truth, gate.arity), j), gate.arity);
}

}  // namespace

NetlistBuilder::NetlistBuilder(const Netlist& like) {
  netlist_.name = like.name;
  netlist_.inputs = like.inputs;
  netlist_.outputs = like.outputs;
  netlist_.state = like.state;
}

Net NetlistBuilder::add_gate(const NetlistGate& gate) {
  netlist_.gates.push_back(gate);
  return netlist_.gate(netlist_.gates.size() - 1);
}

BitLiteral NetlistBuilder::add(const TableGate& gate) {
  NetlistGate own{.arity = static_cast<std::uint8_t>(gate.inputs.size())};
  Truth truth = gate.truth;
  for (std::size_t j = 0; j < gate.inputs.size(); ++j) {
    if (gate.inputs[j].complemented()) truth = flipped(truth, j);
    own.inputs[j] = gate.inputs[j].node() - 1;
  }
  own.truth = shortened(truth, own.arity);
  return BitLiteral(add_gate(own) + 1, gate.complemented);
}

/// Inverts drivers that outputs read only complemented, and adjusts their readers.
void NetlistBuilder::invert_drivers(std::span<BitLiteral> outputs) {
  const std::size_t nets = netlist_.gate(netlist_.gates.size());
  std::vector<bool> turned(nets, false);
  for (const BitLiteral output : outputs) {
    if (output.node() != 0 && output.complemented()) turned[output.node() - 1] = true;
  }
  for (const BitLiteral output : outputs) {
    if (output.node() != 0 && !output.complemented()) turned[output.node() - 1] = false;
  }
  for (std::size_t i = 0; i < netlist_.inputs.size(); ++i) turned[i] = false;
  for (std::size_t g = 0; g < netlist_.gates.size(); ++g) {
    NetlistGate& gate = netlist_.gates[g];
    for (std::size_t j = 0; j < gate.arity; ++j) {
      if (turned[gate.inputs[j]]) flip_input(gate, j);
    }
    if (turned[netlist_.gate(g)]) gate.truth = shortened(~gate.truth, gate.arity);
  }
  for (BitLiteral& output : outputs) {
    if (output.node() != 0 && turned[output.node() - 1]) output = !output;
  }
}

Net NetlistBuilder::net_of(BitLiteral output) {
  if (output.node() != 0 && !output.complemented()) return output.node() - 1;
  const auto [known, added] = made_for_outputs_.try_emplace(output);
  if (!added) return known->second;
  NetlistGate gate{.truth = 0b01, .inputs = {output.node() - 1}, .arity = 1};
  if (output.node() == 0) gate = {.truth = output.complemented() ? 1U : 0U};
  known->second = add_gate(gate);
  return known->second;
}

Netlist NetlistBuilder::finish(std::span<const BitLiteral> outputs) {
  std::vector<BitLiteral> literals(outputs.begin(), outputs.end());
  invert_drivers(literals);
  for (const BitLiteral literal : literals) netlist_.output_nets.push_back(net_of(literal));
  return checked(std::move(netlist_));
}

}  // namespace boolgrad::circuit
