#include "boolgrad/model/equality.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "boolgrad/circuit/proof/equivalence.h"
#include "boolgrad/circuit/threshold_bits.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"
#include "boolgrad/options/border.h"

namespace boolgrad {
namespace {

constexpr const char* where = "equal";

using Order = std::vector<std::size_t>;

/// For each name of `to`, its position in `from`; none if the names are not the same.
std::optional<Order> order_by_name(const std::vector<std::string>& from,
                                   const std::vector<std::string>& to) {
  std::map<std::string_view, std::size_t> positions;
  for (std::size_t i = 0; i < from.size(); ++i) positions.emplace(from[i], i);
  Order order;
  for (const std::string& name : to) {
    const auto found = positions.find(name);
    if (found == positions.end()) return std::nullopt;
    order.push_back(found->second);
  }
  return order;
}

/// The circuit with ports in the order of `like`: input and output i become those named in it.
circuit::Netlist reordered(const circuit::Netlist& netlist, const circuit::Netlist& like,
                           const Order& inputs, const Order& outputs) {
  std::vector<circuit::Net> nets(netlist.inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) nets[inputs[i]] = static_cast<circuit::Net>(i);
  circuit::Netlist result = netlist;
  const auto moved = [&](circuit::Net net) { return netlist.is_input(net) ? nets[net] : net; };
  for (circuit::NetlistGate& gate : result.gates) {
    for (std::size_t j = 0; j < gate.arity; ++j) gate.inputs[j] = moved(gate.inputs[j]);
  }
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    result.output_nets[o] = moved(netlist.output_nets[outputs[o]]);
  }
  result.inputs = like.inputs;
  result.outputs = like.outputs;
  return result;
}

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
  const auto inputs = order_by_name(second.inputs, first.inputs);
  const auto outputs = order_by_name(second.outputs, first.outputs);
  if (inputs && outputs) {
    second = reordered(second, first, *inputs, *outputs);
    result.matches_names = true;
  }
  // Only bits that features can have matter.
  const logic::Thresholds* thresholds = of_a != nullptr   ? &(*of_a)->thresholds
                                        : of_b != nullptr ? &(*of_b)->thresholds
                                                          : nullptr;
  const auto compared = [&](const circuit::Netlist& netlist) {
    return thresholds != nullptr ? circuit::behind_thresholds(netlist, *thresholds) : netlist;
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
  if (found && thresholds != nullptr)
    found->inputs = circuit::possible_bits(found->inputs, *thresholds);
  if (found) result.difference = described(first, second, *found);
  return result;
}

}  // namespace boolgrad
