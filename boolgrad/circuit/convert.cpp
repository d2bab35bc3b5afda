#include "boolgrad/circuit/convert.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "boolgrad/circuit/builder.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::circuit {
namespace {

/// Nodes whose complement is an output and needs an inverter: inputs, and gates that another output
/// reads uncomplemented.
std::vector<bool> inverted_nodes(const BitCircuit& circuit) {
  std::vector<bool> plain(circuit.nodes().size(), false);
  for (std::int64_t i = 0; i < circuit.inputs(); ++i) plain[circuit.input(i).node()] = true;
  for (const BitLiteral output : circuit.outputs()) {
    if (!output.complemented()) plain[output.node()] = true;
  }
  std::vector<bool> inverted(circuit.nodes().size(), false);
  for (const BitLiteral output : circuit.outputs()) {
    if (output.complemented() && output.node() != 0) inverted[output.node()] = plain[output.node()];
  }
  return inverted;
}

}  // namespace

BitCircuit to_bit_circuit(const Netlist& netlist) {
  BitCircuit circuit(std::ssize(netlist.inputs));
  circuit.reserve(netlist.gates.size());
  std::vector<BitLiteral> literals;
  literals.reserve(netlist.gate(netlist.gates.size()));
  for (std::int64_t i = 0; i < circuit.inputs(); ++i) literals.push_back(circuit.input(i));
  for (const NetlistGate& gate : netlist.gates) {
    std::array<BitLiteral, NetlistGate::max_inputs> inputs;
    for (std::size_t j = 0; j < gate.arity; ++j) inputs[j] = literals[gate.inputs[j]];
    literals.push_back(circuit.table(std::span(inputs).first(gate.arity), gate.truth));
  }
  for (const Net net : netlist.output_nets) circuit.add_output(literals[net]);
  return circuit;
}

Netlist to_netlist(const BitCircuit& circuit, const Netlist& like) {
  if (circuit.inputs() != std::ssize(like.inputs) ||
      circuit.outputs().size() != like.outputs.size()) {
    fail("netlist", "expected names for {} inputs and {} outputs, received {} and {}",
         circuit.inputs(), circuit.outputs().size(), like.inputs.size(), like.outputs.size());
  }
  NetlistBuilder builder(like);
  const std::vector<bool> reachable = circuit.reachable();
  std::vector<BitLiteral> literals(circuit.nodes().size());
  for (std::size_t i = 0; i < like.inputs.size(); ++i) literals[i + 1] = builder.input(i);
  const auto literal_of = [&](BitLiteral own) { return literals[own.node()] ^ own.complemented(); };
  constexpr Truth conjunction = 0x8888888888888888;
  constexpr Truth exclusive_or = 0x6666666666666666;
  for (std::size_t n = like.inputs.size() + 1; n < literals.size(); ++n) {
    if (!reachable[n]) continue;
    const BitNode& node = circuit.nodes()[n];
    literals[n] = builder.add({node.kind == BitNodeKind::conjunction ? conjunction : exclusive_or,
                               {literal_of(node.a), literal_of(node.b)},
                               false});
  }
  std::vector<BitLiteral> outputs;
  for (const BitLiteral output : circuit.outputs()) outputs.push_back(literal_of(output));
  return builder.finish(outputs);
}

std::int64_t netlist_gate_count(const BitCircuit& circuit) {
  const std::vector<bool> inverted = inverted_nodes(circuit);
  return circuit.gates() + std::count(inverted.begin(), inverted.end(), true);
}

std::int64_t netlist_depth(const BitCircuit& circuit) {
  const std::vector<bool> inverted = inverted_nodes(circuit);
  std::vector<std::int32_t> levels(circuit.nodes().size(), 0);
  for (std::size_t n = static_cast<std::size_t>(circuit.inputs()) + 1; n < levels.size(); ++n) {
    const BitNode& node = circuit.nodes()[n];
    levels[n] = 1 + std::max(levels[node.a.node()], levels[node.b.node()]);
  }
  std::int32_t deepest = 0;
  for (const BitLiteral output : circuit.outputs()) {
    const bool inverts = output.complemented() && inverted[output.node()];
    deepest = std::max(deepest, levels[output.node()] + (inverts ? 1 : 0));
  }
  return deepest;
}

}  // namespace boolgrad::circuit
