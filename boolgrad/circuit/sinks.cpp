#include "boolgrad/circuit/sinks.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace boolgrad::circuit {

static_assert(logic::max_gate_inputs <= NetlistGate::max_inputs);

logic::Signal NetlistSink::constant(bool value) {
  std::optional<Net>& known = constants_[value ? 1 : 0];
  if (!known) known = gate({}, value ? 1 : 0);
  return *known;
}

logic::Signal NetlistSink::gate(std::span<const logic::Signal> inputs, std::uint64_t truth) {
  NetlistGate gate{.truth = truth, .arity = static_cast<std::uint8_t>(inputs.size())};
  std::ranges::copy(inputs, gate.inputs.begin());
  netlist_.gates.push_back(gate);
  return netlist_.gate(netlist_.gates.size() - 1);
}

logic::Signal FoldingNetlistSink::gate(std::span<const logic::Signal> inputs, std::uint64_t truth) {
  TableGate table{stretched(truth, inputs.size()), {}, false};
  for (const logic::Signal input : inputs) table.inputs.push_back(BitLiteral::from_code(input));
  fold_constants(table);
  drop_unneeded(table);
  const bool at_zeros = (table.truth & 1) != 0;
  if (table.inputs.empty()) return BitLiteral(0, at_zeros).code();
  if (table.inputs.size() == 1) return (table.inputs[0] ^ at_zeros).code();
  return builder_.add(table).code();
}

logic::Signal BitCircuitSink::gate(std::span<const logic::Signal> inputs, std::uint64_t truth) {
  std::array<BitLiteral, NetlistGate::max_inputs> literals;
  std::ranges::transform(inputs, literals.begin(), BitLiteral::from_code);
  return circuit_.table(std::span(literals).first(inputs.size()), truth).code();
}

}  // namespace boolgrad::circuit
