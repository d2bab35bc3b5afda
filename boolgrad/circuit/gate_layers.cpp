#include "boolgrad/circuit/gate_layers.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::circuit {
namespace {

constexpr std::size_t max_layer_gates = std::size_t{1} << 24;
constexpr Net no_position = std::numeric_limits<Net>::max();

/// The table of a gate whose input `slot` is the constant `value`, without this input.
NetlistGate without_input(const NetlistGate& gate, std::size_t slot, bool value) {
  NetlistGate result;
  result.arity = static_cast<std::uint8_t>(gate.arity - 1);
  const std::uint64_t low_bits = (std::uint64_t{1} << slot) - 1;
  for (std::uint64_t entry = 0; entry < (std::uint64_t{1} << result.arity); ++entry) {
    const std::uint64_t whole =
        (entry & low_bits) | ((entry & ~low_bits) << 1) | (std::uint64_t{value ? 1U : 0U} << slot);
    result.truth |= ((gate.truth >> whole) & 1) << entry;
  }
  std::copy_n(gate.inputs.begin(), slot, result.inputs.begin());
  std::copy(gate.inputs.begin() + slot + 1, gate.inputs.begin() + gate.arity,
            result.inputs.begin() + slot);
  return result;
}

/// Folds gates without inputs into those that read them. Unlike constant propagation, it leaves
/// gates alone whose tables happen to be constant: training may change them.
Netlist with_folded_constants(Netlist netlist) {
  for (NetlistGate& gate : netlist.gates) {
    for (std::size_t slot = gate.arity; slot-- > 0;) {
      const Net source = gate.inputs[slot];
      if (netlist.is_input(source)) continue;
      const NetlistGate& driver = netlist.driver(source);
      if (driver.arity == 0) gate = without_input(gate, slot, (driver.truth & 1) != 0);
    }
  }
  return netlist;
}

/// A stack of layers under construction.
class Layering {
 public:
  Layering(Netlist netlist, std::size_t min_layers)
      : netlist_(std::move(netlist)), reached_(reached_nets(netlist_)) {
    find_levels();
    depth_ = std::max<std::size_t>({1, min_layers, deepest()});
    find_last_uses();
    check_size();
    by_level_.assign(depth_ + 1, {});
    for (std::size_t g = 0; g < netlist_.gates.size(); ++g) {
      const Net net = netlist_.gate(g);
      if (reached_[net] && !is_constant(net)) by_level_[levels_[net]].push_back(net);
    }
  }

  std::vector<LayerGates> layers() {
    std::vector<LayerGates> result;
    std::vector<Net> before(nets(), no_position);
    for (std::size_t i = 0; i < netlist_.inputs.size(); ++i) before[i] = static_cast<Net>(i);
    std::vector<Net> alive;  // outputs of the layer before, in its order
    for (std::size_t i = 0; i < netlist_.inputs.size(); ++i) alive.push_back(netlist_.input(i));
    for (std::size_t layer = 1; layer < depth_; ++layer) {
      std::vector<Net> now = gates_of_level(layer);
      for (const Net net : alive) {
        if (last_use_[net] > layer) now.push_back(net);
      }
      result.push_back(gates_of(now, layer, before));
      for (const Net net : alive) before[net] = no_position;
      for (std::size_t i = 0; i < now.size(); ++i) before[now[i]] = static_cast<Net>(i);
      alive = std::move(now);
    }
    result.push_back(gates_of(netlist_.output_nets, depth_, before));
    return result;
  }

 private:
  std::size_t nets() const { return netlist_.gate(netlist_.gates.size()); }
  bool is_constant(Net net) const {
    return !netlist_.is_input(net) && netlist_.driver(net).arity == 0;
  }

  void find_levels() {
    levels_.assign(nets(), 0);
    for (std::size_t g = 0; g < netlist_.gates.size(); ++g) {
      std::size_t level = 0;
      for (const Net source : netlist_.gates[g].sources()) {
        level = std::max(level, levels_[source] + 1);
      }
      levels_[netlist_.gate(g)] = level;
    }
  }

  std::size_t deepest() const {
    std::size_t level = 0;
    for (const Net net : netlist_.output_nets) level = std::max(level, levels_[net]);
    return level;
  }

  /// The layer that reads a value last; 0 if none does.
  void find_last_uses() {
    last_use_.assign(nets(), 0);
    for (std::size_t g = 0; g < netlist_.gates.size(); ++g) {
      const Net net = netlist_.gate(g);
      if (!reached_[net] || netlist_.gates[g].arity == 0) continue;
      for (const Net source : netlist_.gates[g].sources()) {
        last_use_[source] = std::max(last_use_[source], levels_[net]);
      }
    }
    // Gates of the last layer are there by themselves.
    for (const Net net : netlist_.output_nets) {
      if (levels_[net] < depth_ && !is_constant(net)) last_use_[net] = depth_;
    }
  }

  void check_size() const {
    std::size_t gates = netlist_.output_nets.size();
    for (Net net = 0; net < nets(); ++net) {
      const std::size_t first = std::max<std::size_t>(1, levels_[net]);
      if (last_use_[net] > first) gates += last_use_[net] - first;
    }
    if (gates > max_layer_gates) {
      fail("layers", "expected a circuit of at most {} gates in layers, received {} in {} layers",
           max_layer_gates, gates, depth_);
    }
  }

  /// The gates of a level that later layers read.
  std::vector<Net> gates_of_level(std::size_t level) const {
    std::vector<Net> result;
    for (const Net net : by_level_[level]) {
      if (last_use_[net] > level) result.push_back(net);
    }
    return result;
  }

  /// The gates that give the values of `wanted` in a layer, from the positions in the one before.
  LayerGates gates_of(const std::vector<Net>& wanted, std::size_t layer,
                      const std::vector<Net>& before) const {
    constexpr std::uint64_t pass_through = 0b10;
    LayerGates result;
    for (const Net net : wanted) {
      NetlistGate gate{.truth = pass_through, .inputs = {before[net]}, .arity = 1};
      if (is_constant(net)) {
        gate = netlist_.driver(net);
      } else if (levels_[net] == layer) {
        gate = netlist_.driver(net);
        for (std::size_t j = 0; j < gate.arity; ++j) gate.inputs[j] = before[gate.inputs[j]];
      }
      result.push_back(gate);
    }
    return result;
  }

  Netlist netlist_;
  std::vector<bool> reached_;
  std::vector<std::size_t> levels_;
  std::vector<std::size_t> last_use_;
  std::vector<std::vector<Net>> by_level_;
  std::size_t depth_ = 1;
};

}  // namespace

std::vector<LayerGates> layers_of(const Netlist& netlist, std::size_t min_layers) {
  return Layering(with_folded_constants(netlist), min_layers).layers();
}

}  // namespace boolgrad::circuit
