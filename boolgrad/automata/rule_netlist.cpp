#include "boolgrad/automata/rule_netlist.h"

#include <fmt/format.h>

#include <cstddef>
#include <numeric>
#include <utility>

#include "boolgrad/automata/perception_layer.h"
#include "boolgrad/circuit/sinks.h"

namespace boolgrad {
namespace {

constexpr std::int64_t neighbourhood = 9;

}  // namespace

std::vector<Signal> emit(const Rule& rule, const std::vector<Signal>& inputs, GateSink& sink) {
  const PerceptionLayer perception(rule.perceive(), rule.channels());
  return emit(rule.update(), perception.emit(inputs, sink), sink);
}

Netlist netlist_of(const Rule& rule) {
  Netlist netlist;
  netlist.state = {rule.channels(), rule.border()};
  for (std::int64_t c = 0; c < rule.channels(); ++c) {
    for (std::int64_t n = 0; n < neighbourhood; ++n) {
      netlist.inputs.push_back(fmt::format("c{}_n{}", c, n));
    }
    netlist.outputs.push_back(fmt::format("c{}", c));
  }
  std::vector<Signal> inputs(netlist.inputs.size());
  std::iota(inputs.begin(), inputs.end(), Signal{0});
  NetlistSink sink(netlist);
  netlist.output_nets = emit(rule, inputs, sink);
  return checked(std::move(netlist));
}

BitCircuit hardened_circuit(const Rule& rule) {
  BitCircuit circuit(neighbourhood * rule.channels());
  std::vector<Signal> inputs;
  for (std::int64_t i = 0; i < circuit.inputs(); ++i) inputs.push_back(circuit.input(i).code());
  BitCircuitSink sink(circuit);
  for (const Signal output : emit(rule, inputs, sink)) {
    circuit.add_output(BitLiteral::from_code(output));
  }
  return circuit;
}

}  // namespace boolgrad
