#include "boolgrad/circuit/passes/covering.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "boolgrad/circuit/passes/mapping.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::circuit {

Netlist wires_of(const Netlist& like) {
  Netlist wires;
  wires.name = like.name;
  wires.inputs = like.outputs;
  wires.outputs = like.outputs;
  for (std::size_t i = 0; i < like.outputs.size(); ++i) wires.output_nets.push_back(wires.input(i));
  return wires;
}

Netlist composed(const Netlist& first, const Netlist& second) {
  if (second.inputs.size() != first.outputs.size()) {
    fail("composed", "expected a circuit of {} inputs, received {}", first.outputs.size(),
         second.inputs.size());
  }
  Netlist result = first;
  std::vector<Net> nets = first.output_nets;
  for (NetlistGate gate : second.gates) {
    for (std::size_t j = 0; j < gate.arity; ++j) gate.inputs[j] = nets[gate.inputs[j]];
    nets.push_back(result.gate(result.gates.size()));
    result.gates.push_back(gate);
  }
  result.outputs = second.outputs;
  result.output_nets.clear();
  for (const Net net : second.output_nets) result.output_nets.push_back(nets[net]);
  return checked(std::move(result));
}

LutCover cover_with_luts(const Netlist& tables, const Netlist& gates, int inputs,
                         const AddHead& add_head) {
  const MappingParams params{.inputs = inputs, .keeps_depth = false};
  Netlist mapped = map_to_luts(add_head(gates), params);
  const bool fits = std::ranges::all_of(
      tables.gates, [&](const NetlistGate& gate) { return int{gate.arity} <= inputs; });
  if (!fits) return {std::move(mapped), false};
  Netlist kept = composed(tables, map_to_luts(add_head(wires_of(tables)), params));
  if (gate_count(mapped) < gate_count(kept)) return {std::move(mapped), false};
  return {std::move(kept), true};
}

}  // namespace boolgrad::circuit
