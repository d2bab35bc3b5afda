#include "boolgrad/circuit/threshold_bits.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace boolgrad::circuit {
namespace {

using Order = std::vector<std::size_t>;

/// For each bit of thresholds, the bits of the same feature with lower thresholds, the highest of
/// them last; and whether its threshold is that of this last one.
struct LowerThreshold {
  std::size_t bit = 0;
  bool is_equal = false;
};
std::vector<std::optional<LowerThreshold>> lower_thresholds(const logic::Thresholds& thresholds,
                                                            Order& order) {
  const auto sources = thresholds.sources();
  const auto values = thresholds.values().values<float>();
  order.resize(sources.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t i, std::size_t j) {
    return std::pair(sources[i], values[i]) < std::pair(sources[j], values[j]);
  });
  std::vector<std::optional<LowerThreshold>> lower(sources.size());
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::size_t here = order[i];
    const std::size_t below = order[i - 1];
    if (sources[here] != sources[below]) continue;
    lower[here] = {below, values[here] == values[below]};
  }
  return lower;
}

}  // namespace

Netlist behind_thresholds(const Netlist& netlist, const logic::Thresholds& thresholds) {
  Order order;
  const auto lower = lower_thresholds(thresholds, order);
  Netlist result = netlist;
  result.gates.clear();
  std::vector<Net> nets(netlist.inputs.size());
  for (const std::size_t bit : order) {
    nets[bit] = netlist.input(bit);
    if (!lower[bit]) continue;
    const Net below = nets[lower[bit]->bit];
    if (lower[bit]->is_equal) {
      nets[bit] = below;
      continue;
    }
    result.gates.push_back({.truth = 0b1000, .inputs = {below, nets[bit]}, .arity = 2});
    nets[bit] = result.gate(result.gates.size() - 1);
  }
  for (const NetlistGate& gate : netlist.gates) {
    NetlistGate moved = gate;
    for (std::size_t j = 0; j < gate.arity; ++j) moved.inputs[j] = nets[gate.inputs[j]];
    result.gates.push_back(moved);
    nets.push_back(result.gate(result.gates.size() - 1));
  }
  for (Net& net : result.output_nets) net = nets[net];
  return result;
}

std::vector<bool> possible_bits(std::vector<bool> inputs, const logic::Thresholds& thresholds) {
  Order order;
  const auto lower = lower_thresholds(thresholds, order);
  for (const std::size_t bit : order) {
    if (!lower[bit]) continue;
    const bool below = inputs[lower[bit]->bit];
    inputs[bit] = below && (inputs[bit] || lower[bit]->is_equal);
  }
  return inputs;
}

}  // namespace boolgrad::circuit
