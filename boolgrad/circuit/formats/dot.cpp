#include "boolgrad/circuit/formats/dot.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

#include "boolgrad/circuit/formats/port_groups.h"
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

/// Whether the order of the inputs does not matter, so that they need no labels.
bool is_symmetric(const NetlistGate& gate) {
  for (unsigned i = 0; i < 1U << gate.arity; ++i) {
    const unsigned ones = static_cast<unsigned>(std::popcount(i));
    // The first entry with as many ones.
    const unsigned first = (1U << ones) - 1;
    if (((gate.truth >> i ^ gate.truth >> first) & 1) != 0) return false;
  }
  return true;
}

/// Inputs or outputs as nodes `KIND0`, ..., with a frame around each bus.
std::string ports(const std::vector<std::string>& names, char kind) {
  std::string text;
  std::string all;
  auto out = std::back_inserter(text);
  std::size_t frames = 0;
  for (const PortGroup& group : port_groups(names)) {
    if (group.is_bus) {
      fmt::format_to(out, "  subgraph cluster_{}{} {{\n  label={}; style=rounded; color=gray;\n",
                     kind, frames++, in_quotes(group.title()));
    }
    for (const std::size_t i : group.positions) {
      fmt::format_to(out, "  {}{} [shape=plaintext, label={}];\n", kind, i, in_quotes(names[i]));
      all += fmt::format(" {}{};", kind, i);
    }
    if (group.is_bus) text += "  }\n";
  }
  return text + fmt::format("  {{ rank=same;{} }}\n", all);
}

/// Gates of a level below each other.
std::string levels(const Netlist& netlist) {
  std::vector<std::size_t> level(netlist.inputs.size(), 0);
  std::map<std::size_t, std::string> gates;
  for (std::size_t i = 0; i < netlist.gates.size(); ++i) {
    std::size_t own = 0;
    for (const Net net : netlist.gates[i].sources()) own = std::max(own, level[net] + 1);
    level.push_back(own);
    gates[own] += fmt::format(" n{};", netlist.gate(i));
  }
  std::string text;
  for (const auto& [number, names] : gates) {
    if (number > 0) text += fmt::format("  {{ rank=same;{} }}\n", names);
  }
  return text;
}

}  // namespace

std::string to_dot(const Netlist& netlist) {
  // Layouts of larger circuits by level take minutes and are unreadable.
  constexpr std::size_t max_levelled_gates = 500;
  std::string text = fmt::format(
      "digraph {} {{\n  rankdir=LR; newrank=true; ranksep=0.7; nodesep=0.12;\n"
      "  node [shape=box, style=rounded, fontname=\"Helvetica\", fontsize=10, height=0.25, "
      "width=0.3, margin=\"0.06,0.03\"];\n"
      "  edge [arrowsize=0.5, color=\"#00000090\", fontname=\"Helvetica\", fontsize=8];\n",
      in_quotes(netlist.name));
  auto out = std::back_inserter(text);
  text += ports(netlist.inputs, 'x');
  const auto node = [&](Net net) {
    return netlist.is_input(net) ? fmt::format("x{}", net) : fmt::format("n{}", net);
  };
  for (std::size_t i = 0; i < netlist.gates.size(); ++i) {
    const NetlistGate& gate = netlist.gates[i];
    fmt::format_to(out, "  n{} [label={}];\n", netlist.gate(i), in_quotes(gate_label(gate)));
    const bool has_labels = !is_symmetric(gate);
    for (unsigned j = 0; j < gate.arity; ++j) {
      fmt::format_to(out, "  {} -> n{}", node(gate.inputs[j]), netlist.gate(i));
      if (has_labels) fmt::format_to(out, " [headlabel=\"{}\"]", static_cast<char>('a' + j));
      text += ";\n";
    }
  }
  if (netlist.gates.size() <= max_levelled_gates) text += levels(netlist);
  text += ports(netlist.outputs, 'y');
  for (std::size_t i = 0; i < netlist.outputs.size(); ++i) {
    fmt::format_to(out, "  {} -> y{};\n", node(netlist.output_nets[i]), i);
  }
  return text + "}\n";
}

}  // namespace boolgrad::circuit
