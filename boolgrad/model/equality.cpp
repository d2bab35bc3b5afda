#include "boolgrad/model/equality.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "boolgrad/circuit/port_order.h"
#include "boolgrad/circuit/proof/equivalence.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"
#include "boolgrad/options/border.h"

namespace boolgrad {
namespace {

constexpr const char* where = "equal";

using Order = std::vector<std::size_t>;

const std::optional<Classifier>* classifier_of(const CircuitSource& source) {
  const bool is_classifier = source.model && source.model->model.classifier();
  return is_classifier ? &source.model->model.classifier() : nullptr;
}

circuit::Netlist whole(const CircuitSource& source) {
  const auto* classifier = classifier_of(source);
  return classifier != nullptr ? circuit::with_head(source.netlist, (*classifier)->head)
                               : source.netlist;
}

/// Whether equal outputs give equal predictions.
bool same_head(const Head& a, const Head& b) {
  return a.kind == b.kind && a.classes == b.classes && a.exponents == b.exponents &&
         (a.kind != HeadKind::regression || (a.low == b.low && a.high == b.high));
}

/// Bits of different thresholds mean different things.
void check_thresholds(const Classifier& a, const Classifier& b, const std::string& name_a,
                      const std::string& name_b) {
  const auto same = [](auto x, auto y) { return std::ranges::equal(x, y); };
  if (!same(a.thresholds.sources(), b.thresholds.sources()) ||
      !same(a.thresholds.values().values<float>(), b.thresholds.values().values<float>())) {
    fail(where,
         "expected classifiers with the same thresholds, received different ones in {} and {}",
         printable(name_a), printable(name_b));
  }
}

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

/// The circuit behind bits that features can have: a feature that exceeds a threshold exceeds the
/// lower ones too. Every combination of inputs gives such bits, and all of them occur.
circuit::Netlist behind_thresholds(const circuit::Netlist& netlist,
                                   const logic::Thresholds& thresholds) {
  Order order;
  const auto lower = lower_thresholds(thresholds, order);
  circuit::Netlist result = netlist;
  result.gates.clear();
  std::vector<circuit::Net> nets(netlist.inputs.size());
  for (const std::size_t bit : order) {
    nets[bit] = netlist.input(bit);
    if (!lower[bit]) continue;
    const circuit::Net below = nets[lower[bit]->bit];
    if (lower[bit]->is_equal) {
      nets[bit] = below;
      continue;
    }
    result.gates.push_back({.truth = 0b1000, .inputs = {below, nets[bit]}, .arity = 2});
    nets[bit] = result.gate(result.gates.size() - 1);
  }
  for (const circuit::NetlistGate& gate : netlist.gates) {
    circuit::NetlistGate moved = gate;
    for (std::size_t j = 0; j < gate.arity; ++j) moved.inputs[j] = nets[gate.inputs[j]];
    result.gates.push_back(moved);
    nets.push_back(result.gate(result.gates.size() - 1));
  }
  for (circuit::Net& net : result.output_nets) net = nets[net];
  return result;
}

/// The bits that the inputs of `behind_thresholds` give.
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

void check_ports(const circuit::Netlist& a, const circuit::Netlist& b, const std::string& name_a,
                 const std::string& name_b) {
  if (a.inputs.size() != b.inputs.size() || a.outputs.size() != b.outputs.size()) {
    fail(where,
         "expected equal numbers of inputs and outputs, received {} and {} in {}, {} and {} in {}",
         a.inputs.size(), a.outputs.size(), printable(name_a), b.inputs.size(), b.outputs.size(),
         printable(name_b));
  }
  if (a.state && b.state && a.state->border != b.state->border) {
    fail(where, "expected rules with the same border, received {} in {} and {} in {}",
         to_string(a.state->border), printable(name_a), to_string(b.state->border),
         printable(name_b));
  }
}

CircuitDifference described(const circuit::Netlist& a, const circuit::Netlist& b,
                            const circuit::Counterexample& found) {
  std::vector<std::uint64_t> words;
  for (const bool value : found.inputs) words.push_back(value ? ~0ULL : 0);
  return {.inputs = a.inputs,
          .values = found.inputs,
          .output = a.outputs[found.output],
          .first = (evaluate(a, words)[found.output] & 1) != 0,
          .second = (evaluate(b, words)[found.output] & 1) != 0};
}

}  // namespace

CircuitComparison compare_circuits(const CircuitSource& a, const CircuitSource& b,
                                   const std::string& name_a, const std::string& name_b) {
  const auto* of_a = classifier_of(a);
  const auto* of_b = classifier_of(b);
  const circuit::Netlist first = whole(a);
  circuit::Netlist second = whole(b);
  check_ports(first, second, name_a, name_b);
  CircuitComparison result{.inputs = std::ssize(first.inputs),
                           .outputs = std::ssize(first.outputs)};
  if (auto ordered = circuit::with_port_order(second, first.inputs, first.outputs)) {
    second = *std::move(ordered);
    result.matches_names = true;
  }
  // Only bits that features can have matter.
  const logic::Thresholds* thresholds = of_a != nullptr   ? &(*of_a)->thresholds
                                        : of_b != nullptr ? &(*of_b)->thresholds
                                                          : nullptr;
  const auto compared = [&](const circuit::Netlist& netlist) {
    return thresholds != nullptr ? behind_thresholds(netlist, *thresholds) : netlist;
  };
  circuit::EquivalenceStats stats;
  if (of_a != nullptr && of_b != nullptr) {
    check_thresholds(**of_a, **of_b, name_a, name_b);
    // Equal sums give equal classes: the adders of the head make proofs expensive.
    const bool comparable = same_head((*of_a)->head, (*of_b)->head) &&
                            a.netlist.outputs.size() == b.netlist.outputs.size();
    if (comparable && !circuit::difference(compared(a.netlist), compared(b.netlist), {}, &stats)) {
      result.is_exhaustive = stats.exhaustive;
      return result;
    }
  }
  auto found = circuit::difference(compared(first), compared(second), {}, &stats);
  result.is_exhaustive = stats.exhaustive;
  if (found && thresholds != nullptr) found->inputs = possible_bits(found->inputs, *thresholds);
  if (found) result.difference = described(first, second, *found);
  return result;
}

}  // namespace boolgrad
