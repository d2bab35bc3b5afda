#include "boolgrad/circuit/harden.h"

#include <fmt/format.h>

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "boolgrad/circuit/sinks.h"

namespace boolgrad::circuit {
namespace {

std::size_t gate_count(const logic::Network& network) {
  std::size_t gates = 0;
  for (const logic::GateLayer& layer : network.layers()) {
    gates += static_cast<std::size_t>(layer.wiring->gates());
  }
  return gates;
}

}  // namespace

Netlist harden(const logic::Network& network) {
  Netlist netlist;
  netlist.name = "circuit";
  for (std::int64_t i = 0; i < network.inputs(); ++i) {
    netlist.inputs.push_back(fmt::format("x{}", i));
  }
  netlist.gates.reserve(gate_count(network) + 1);
  std::vector<logic::Signal> inputs(netlist.inputs.size());
  std::iota(inputs.begin(), inputs.end(), logic::Signal{0});
  NetlistSink sink(netlist);
  netlist.output_nets = emit(network, std::move(inputs), sink);
  for (std::size_t i = 0; i < netlist.output_nets.size(); ++i) {
    netlist.outputs.push_back(fmt::format("y{}", i));
  }
  return checked(std::move(netlist));
}

BitCircuit hardened_circuit(const logic::Network& network) {
  BitCircuit circuit(network.inputs());
  circuit.reserve(gate_count(network));
  std::vector<logic::Signal> inputs;
  for (std::int64_t i = 0; i < network.inputs(); ++i) inputs.push_back(circuit.input(i).code());
  BitCircuitSink sink(circuit);
  for (const logic::Signal output : emit(network, std::move(inputs), sink)) {
    circuit.add_output(BitLiteral::from_code(output));
  }
  return circuit;
}

}  // namespace boolgrad::circuit
