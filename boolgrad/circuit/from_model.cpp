#include "boolgrad/circuit/from_model.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace boolgrad {
namespace {

constexpr std::int64_t patch = 9;
constexpr std::int64_t own_place = 4;

static_assert(most_inputs_per_gate <= NetlistGate::most_inputs);

/// Adds networks to a netlist.
class Assembler {
 public:
  explicit Assembler(Netlist& netlist) : netlist_(netlist) {}

  /// The nets of a network's outputs, given those of its inputs.
  std::vector<Net> add(const LogicNetwork& network, std::vector<Net> nets) {
    for (std::size_t i = 0; i < nets.size(); ++i) {
      if (network.input_mask().at(static_cast<std::int64_t>(i)) < 0.5) nets[i] = never();
    }
    for (std::size_t layer = 0; layer < network.layers().size(); ++layer) {
      nets = add_layer(*network.layers()[layer].wiring, network.hard_tables_of(layer), nets);
    }
    return nets;
  }

 private:
  Net add_gate(const NetlistGate& gate) {
    netlist_.gates.push_back(gate);
    return netlist_.gate(netlist_.gates.size() - 1);
  }

  /// The constant that masked inputs become.
  Net never() {
    if (!never_) never_ = add_gate({});
    return *never_;
  }

  std::vector<Net> add_layer(const Wiring& wiring, const Tensor& tables,
                             std::span<const Net> nets) {
    const std::span<const std::uint8_t> entries = tables.values<std::uint8_t>();
    const std::size_t size = std::size_t{1} << wiring.arity();
    std::vector<Net> outputs;
    for (std::int64_t g = 0; g < wiring.gates(); ++g) {
      NetlistGate gate{.arity = static_cast<std::uint8_t>(wiring.arity())};
      for (int slot = 0; slot < wiring.arity(); ++slot) {
        gate.inputs[static_cast<std::size_t>(slot)] =
            nets[static_cast<std::size_t>(wiring.source(g, slot))];
      }
      const auto table = entries.subspan(static_cast<std::size_t>(g) * size, size);
      for (std::size_t e = 0; e < size; ++e) gate.truth |= std::uint64_t{table[e]} << e;
      outputs.push_back(add_gate(gate));
    }
    return outputs;
  }

  Netlist& netlist_;
  std::optional<Net> never_;
};

}  // namespace

Netlist netlist_of(const LogicNetwork& network) {
  Netlist netlist;
  std::vector<Net> nets;
  for (std::int64_t i = 0; i < network.inputs(); ++i) {
    nets.push_back(static_cast<Net>(i));
    netlist.inputs.push_back(fmt::format("x{}", i));
  }
  netlist.output_nets = Assembler(netlist).add(network, std::move(nets));
  for (std::size_t i = 0; i < netlist.output_nets.size(); ++i) {
    netlist.outputs.push_back(fmt::format("y{}", i));
  }
  return checked(std::move(netlist));
}

Netlist netlist_of(const Rule& rule) {
  Netlist netlist;
  netlist.state = {rule.channels(), rule.border()};
  for (std::int64_t c = 0; c < rule.channels(); ++c) {
    for (std::int64_t n = 0; n < patch; ++n) netlist.inputs.push_back(fmt::format("c{}_n{}", c, n));
    netlist.outputs.push_back(fmt::format("c{}", c));
  }
  Assembler assembler(netlist);
  std::vector<Net> seen;
  std::vector<Net> perceived;
  for (std::int64_t c = 0; c < rule.channels(); ++c) {
    std::vector<Net> around;
    for (std::int64_t n = 0; n < patch; ++n) around.push_back(static_cast<Net>(c * patch + n));
    seen.push_back(around[own_place]);
    const std::vector<Net> outputs = assembler.add(rule.perceive(), std::move(around));
    perceived.insert(perceived.end(), outputs.begin(), outputs.end());
  }
  seen.insert(seen.end(), perceived.begin(), perceived.end());
  netlist.output_nets = assembler.add(rule.update(), std::move(seen));
  return checked(std::move(netlist));
}

}  // namespace boolgrad
