#include "boolgrad/automata/rule_netlist.h"

#include <fmt/format.h>

#include <cstddef>
#include <numeric>
#include <utility>

#include "boolgrad/automata/perception_layer.h"
#include "boolgrad/circuit/sinks.h"

namespace boolgrad::automata {
namespace {

constexpr std::int64_t neighbourhood = 9;

}  // namespace

std::vector<logic::Signal> emit(const Rule& rule, const std::vector<logic::Signal>& inputs,
                                logic::GateSink& sink) {
  const PerceptionLayer perception(rule.perceive(), rule.channels());
  return emit(rule.update(), perception.emit(inputs, sink), sink);
}

circuit::Netlist harden(const Rule& rule) {
  circuit::Netlist netlist;
  netlist.state = {rule.channels(), rule.border()};
  for (std::int64_t c = 0; c < rule.channels(); ++c) {
    for (std::int64_t n = 0; n < neighbourhood; ++n) {
      netlist.inputs.push_back(fmt::format("c{}_n{}", c, n));
    }
    netlist.outputs.push_back(fmt::format("c{}", c));
  }
  std::vector<logic::Signal> inputs(netlist.inputs.size());
  std::iota(inputs.begin(), inputs.end(), logic::Signal{0});
  circuit::NetlistSink sink(netlist);
  netlist.output_nets = emit(rule, inputs, sink);
  return circuit::checked(std::move(netlist));
}

circuit::BitCircuit hardened_circuit(const Rule& rule) {
  circuit::BitCircuit circuit(neighbourhood * rule.channels());
  std::vector<logic::Signal> inputs;
  for (std::int64_t i = 0; i < circuit.inputs(); ++i) inputs.push_back(circuit.input(i).code());
  circuit::BitCircuitSink sink(circuit);
  for (const logic::Signal output : emit(rule, inputs, sink)) {
    circuit.add_output(circuit::BitLiteral::from_code(output));
  }
  return circuit;
}

}  // namespace boolgrad::automata
