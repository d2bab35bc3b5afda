#include "boolgrad/circuit/passes/rebuilding.h"

namespace boolgrad::circuit {

std::vector<std::uint32_t> reads_of(const BitCircuit& circuit, const std::vector<bool>& reachable) {
  std::vector<std::uint32_t> reads(circuit.nodes().size(), 0);
  for (std::size_t n = 0; n < reads.size(); ++n) {
    if (!reachable[n] || !is_gate(circuit.nodes()[n])) continue;
    ++reads[circuit.nodes()[n].a.node()];
    ++reads[circuit.nodes()[n].b.node()];
  }
  for (const BitLiteral output : circuit.outputs()) ++reads[output.node()];
  return reads;
}

BitCircuit compacted(const BitCircuit& circuit) {
  BitCircuit result(circuit.inputs());
  const std::vector<bool> reachable = circuit.reachable();
  std::vector<BitLiteral> literals(circuit.nodes().size());
  const auto literal_of = [&](BitLiteral old) { return literals[old.node()] ^ old.complemented(); };
  for (std::size_t n = 1; n < literals.size(); ++n) {
    const BitNode& node = circuit.nodes()[n];
    if (node.kind == BitNodeKind::input) {
      literals[n] = result.input(static_cast<std::int64_t>(n) - 1);
    } else if (reachable[n]) {
      literals[n] = built(result, node.kind, literal_of(node.a), literal_of(node.b));
    }
  }
  for (const BitLiteral output : circuit.outputs()) result.add_output(literal_of(output));
  return result;
}

}  // namespace boolgrad::circuit
