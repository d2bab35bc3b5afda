#include "boolgrad/circuit/formats/verilog_bits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "boolgrad/circuit/table.h"
#include "boolgrad/core/text.h"

namespace boolgrad::circuit {

namespace {

/// Simplifies a table. Returns the literal that it is equal to, if it needs no gate.
std::optional<BitLiteral> simplified(TableGate& gate) {
  fold_constants(gate);
  fold_complements(gate);
  fold_repeated(gate);
  drop_unneeded(gate);
  if (gate.truth == 0 || ~gate.truth == 0) return BitLiteral(0, gate.truth != 0);
  if (gate.inputs.size() == 1) return gate.inputs[0] ^ ((gate.truth & 1) != 0);
  return std::nullopt;
}

}  // namespace

std::string VerilogNet::bit_name(std::size_t bit) const {
  if (!is_bus) return name;
  const auto offset = static_cast<std::int64_t>(bit);
  return fmt::format("{}[{}]", name, msb < lsb ? lsb - offset : lsb + offset);
}

void VerilogBits::declare(VerilogNet& net, std::size_t line) {
  net.first = static_cast<std::uint32_t>(nodes_.size());
  for (std::size_t i = 0; i < net.width(); ++i) {
    nodes_.push_back({.kind = Kind::undriven,
                      .line = line,
                      .sources = {},
                      .named = static_cast<std::uint32_t>(nets_.size())});
  }
  nets_.push_back(net);
}

void VerilogBits::make_input(const VerilogNet& net) {
  for (std::size_t i = 0; i < net.width(); ++i) nodes_[net.first + i].kind = Kind::input;
}

void VerilogBits::drive(BitLiteral bit, BitLiteral driver, std::size_t line) {
  Node& node = nodes_[bit.node()];
  if (node.kind != Kind::undriven) {
    source_.refuse(line, fmt::format("expected one driver of net {}, received {}",
                                     printable(name_of(bit.node())),
                                     node.kind == Kind::input ? "one for an input" : "two"));
  }
  node.kind = Kind::driven;
  node.line = line;
  node.sources = {driver};
}

BitLiteral VerilogBits::table(std::span<const BitLiteral> inputs, std::uint64_t truth,
                              std::size_t line) {
  TableGate gate{stretched(truth, inputs.size()), {inputs.begin(), inputs.end()}, false};
  if (const auto literal = simplified(gate)) return *literal;
  nodes_.push_back({.kind = Kind::table,
                    .line = line,
                    .truth = shortened(gate.truth, gate.inputs.size()),
                    .sources = std::move(gate.inputs)});
  return BitLiteral(static_cast<std::uint32_t>(nodes_.size() - 1));
}

BitLiteral VerilogBits::conjunction(BitLiteral a, BitLiteral b, std::size_t line) {
  return table(std::array{a, b}, 0b1000, line);
}

BitLiteral VerilogBits::disjunction(BitLiteral a, BitLiteral b, std::size_t line) {
  return table(std::array{a, b}, 0b1110, line);
}

BitLiteral VerilogBits::exclusive_or(BitLiteral a, BitLiteral b, std::size_t line) {
  return table(std::array{a, b}, 0b0110, line);
}

std::string VerilogBits::name_of(std::uint32_t node) const {
  const VerilogNet& net = nets_[nodes_[node].named];
  return net.bit_name(node - net.first);
}

void VerilogBits::finish(Node& node, NetlistBuilder& builder) {
  node.state = State::done;
  if (node.kind == Kind::driven) {
    node.net = result(node.sources[0]);
    return;
  }
  // Drivers may turn out to be constants, equal or complements.
  TableGate gate{stretched(node.truth, node.sources.size()), {}, false};
  for (const BitLiteral source : node.sources) gate.inputs.push_back(result(source));
  const auto literal = simplified(gate);
  node.net = literal ? *literal : builder.add(gate);
}

void VerilogBits::visit(std::uint32_t top, NetlistBuilder& builder) {
  struct Step {
    std::uint32_t node;
    std::size_t next;
  };
  if (nodes_[top].state == State::done) return;
  std::vector<Step> path{{top, 0}};
  nodes_[top].state = State::open;
  while (!path.empty()) {
    Step& step = path.back();
    Node& node = nodes_[step.node];
    if (node.kind == Kind::undriven) {
      const std::size_t line =
          path.size() > 1 ? nodes_[path[path.size() - 2].node].line : node.line;
      source_.refuse(
          line, fmt::format("expected a driven net, received {}", printable(name_of(step.node))));
    }
    if (step.next == node.sources.size()) {
      finish(node, builder);
      path.pop_back();
      continue;
    }
    const std::uint32_t below = node.sources[step.next++].node();
    if (nodes_[below].state == State::open) {
      const auto is_bit = [&](const Step& s) { return nodes_[s.node].kind == Kind::driven; };
      const auto named = std::find_if(path.rbegin(), path.rend(), is_bit);
      source_.refuse(node.line,
                     fmt::format("expected an acyclic circuit, received a cycle through net {}",
                                 printable(name_of(named->node))));
    }
    if (nodes_[below].state == State::done) continue;
    nodes_[below].state = State::open;
    path.push_back({below, 0});
  }
}

Netlist VerilogBits::netlist(const std::vector<const VerilogNet*>& inputs,
                             const std::vector<const VerilogNet*>& outputs) {
  Netlist ports;
  nodes_[0].state = State::done;
  for (const VerilogNet* net : inputs) {
    for (std::size_t i = 0; i < net->width(); ++i) {
      Node& node = nodes_[net->first + i];
      node.state = State::done;
      node.net = BitLiteral(static_cast<std::uint32_t>(ports.inputs.size()) + 1);
      ports.inputs.push_back(net->bit_name(i));
    }
  }
  for (const VerilogNet* net : outputs) {
    for (std::size_t i = 0; i < net->width(); ++i) ports.outputs.push_back(net->bit_name(i));
  }
  NetlistBuilder builder(ports);
  for (std::uint32_t n = 1; n < nodes_.size(); ++n) {
    if (nodes_[n].kind == Kind::table) visit(n, builder);
  }
  std::vector<BitLiteral> drivers;
  for (const VerilogNet* net : outputs) {
    for (std::size_t i = 0; i < net->width(); ++i) {
      visit(net->first + static_cast<std::uint32_t>(i), builder);
      drivers.push_back(nodes_[net->first + i].net);
    }
  }
  return builder.finish(drivers);
}

}  // namespace boolgrad::circuit
