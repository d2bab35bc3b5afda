#include "boolgrad/circuit/formats/dot.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "boolgrad/core/text.h"
#include "boolgrad/logic/gates.h"

namespace boolgrad::circuit {
namespace {

std::string in_quotes(std::string_view name) {
  std::string text = "\"";
  for (const char c : printable(name)) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

std::string gate_label(const NetlistGate& gate) {
  std::string table;
  for (unsigned i = 0; i < 1U << gate.arity; ++i) table += (gate.truth >> i & 1) != 0 ? '1' : '0';
  if (gate.arity == 1) return gate.truth == 1 ? "NOT" : table;
  if (gate.arity != 2) return table;
  for (const logic::Gate& known : logic::gates) {
    std::uint64_t truth = 0;
    for (int i = 0; i < 4; ++i) truth |= std::uint64_t{known.entry(i) ? 1U : 0U} << i;
    if (truth == gate.truth) return std::string(known.name);
  }
  return table;
}

}  // namespace

std::string to_dot(const Netlist& netlist) {
  std::string text = fmt::format("digraph {} {{\n  rankdir=LR;\n", in_quotes(netlist.name));
  auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < netlist.inputs.size(); ++i) {
    fmt::format_to(out, "  n{} [shape=plaintext, label={}];\n", i, in_quotes(netlist.inputs[i]));
  }
  for (std::size_t i = 0; i < netlist.gates.size(); ++i) {
    const NetlistGate& gate = netlist.gates[i];
    fmt::format_to(out, "  n{} [shape=box, label={}];\n", netlist.gate(i),
                   in_quotes(gate_label(gate)));
    // Label the inputs of tables that are not symmetric.
    for (unsigned j = 0; j < gate.arity; ++j) {
      fmt::format_to(out, "  n{} -> n{} [headlabel=\"{}\"];\n", gate.inputs[j], netlist.gate(i),
                     static_cast<char>('a' + j));
    }
  }
  for (std::size_t i = 0; i < netlist.outputs.size(); ++i) {
    fmt::format_to(out, "  y{} [shape=plaintext, label={}];\n  n{} -> y{};\n", i,
                   in_quotes(netlist.outputs[i]), netlist.output_nets[i], i);
  }
  return text + "}\n";
}

}  // namespace boolgrad::circuit
