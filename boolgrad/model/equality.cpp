#include "boolgrad/model/equality.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "boolgrad/circuit/port_order.h"
#include "boolgrad/circuit/proof/equivalence.h"
#include "boolgrad/circuit/threshold_bits.h"
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
