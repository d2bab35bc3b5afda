#include "boolgrad/model/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

#include "boolgrad/circuit/bits/runner.h"
#include "boolgrad/circuit/formats/infix_formula.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/table.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/logic/head.h"
#include "boolgrad/model/export.h"
#include "boolgrad/model/input_samples.h"
#include "boolgrad/model/prediction.h"
#include "boolgrad/model/samples.h"

namespace boolgrad {
namespace {

constexpr std::string_view where = "explain";
constexpr std::int64_t max_samples = 4096;

/// The circuit without gates that cannot matter.
circuit::Netlist explained_netlist(const LoadedModel& loaded) {
  circuit::SimplifyParams params;
  params.keeps_tables = true;
  return circuit::simplify(netlist_of(loaded), params);
}

// ---------------------------------------------------------------------------------------------
// Influences

/// What the bit of a threshold says, and the opposite.
std::pair<std::string, std::string> conditions_of(const std::string& feature, bool is_category,
                                                  float threshold) {
  if (is_category) {  // 1 for `colour = red`, else 0
    std::string opposite = feature;
    const std::size_t sign = opposite.find(" = ");
    return {feature, opposite.replace(sign, 3, " is not ")};
  }
  return {fmt::format("{} > {:.6g}", feature, threshold),
          fmt::format("{} <= {:.6g}", feature, threshold)};
}

/// Whether each feature is one category of a column.
std::vector<bool> category_features(const data::DataFormat& format, std::size_t features) {
  std::vector<bool> result;
  for (const data::Column& column : format.columns) {
    result.insert(result.end(), std::max<std::size_t>(1, column.categories.size()),
                  !column.categories.empty());
  }
  result.resize(features, false);
  return result;
}

Influences classifier_bits(const Classifier& classifier) {
  const logic::Thresholds& thresholds = classifier.thresholds;
  const std::vector<std::string> names =
      data::feature_names(classifier.format, thresholds.features());
  const std::vector<bool> is_category = category_features(classifier.format, names.size());
  Influences result;
  for (const std::string& name : names) result.inputs.push_back({.name = name});
  const std::span<const float> values = thresholds.values().values<float>();
  for (std::size_t b = 0; b < values.size(); ++b) {
    const auto feature = static_cast<std::size_t>(thresholds.sources()[b]);
    auto [condition, opposite] = conditions_of(names[feature], is_category[feature], values[b]);
    result.bits.push_back({.input = feature,
                           .condition = std::move(condition),
                           .opposite = std::move(opposite),
                           .threshold = values[b]});
  }
  return result;
}

Influences circuit_bits(const circuit::Netlist& netlist) {
  Influences result;
  for (const std::string& name : netlist.inputs) {
    result.bits.push_back(
        {.input = result.inputs.size(), .condition = name, .opposite = "not " + name});
    result.inputs.push_back({.name = name});
  }
  return result;
}

/// The share of samples for which any output changes if a bit is flipped.
std::vector<double> output_influences(const circuit::Netlist& netlist,
                                      const std::vector<bool>& reached, std::int64_t& samples) {
  const circuit::CircuitRunner runner(netlist);
  logic::BitMatrix inputs =
      logic::pack_bits(input_samples(std::ssize(netlist.inputs), max_samples, DType::float32));
  samples = inputs.samples;
  const logic::BitMatrix before = runner.run(inputs);
  const auto words = static_cast<std::size_t>(inputs.words_per_feature());
  std::vector<double> result(netlist.inputs.size(), 0);
  for (std::size_t bit = 0; bit < result.size(); ++bit) {
    if (!reached[bit]) continue;
    const auto flip = [&] {
      for (std::size_t w = 0; w < words; ++w) inputs.words[bit * words + w] ^= ~std::uint64_t{0};
    };
    flip();
    const logic::BitMatrix after = runner.run(inputs);
    flip();
    std::int64_t changed = 0;
    for (std::int64_t s = 0; s < samples; ++s) {
      bool differs = false;
      for (std::int64_t o = 0; o < before.features && !differs; ++o) {
        differs = before.at(o, s) != after.at(o, s);
      }
      changed += differs ? 1 : 0;
    }
    result[bit] = static_cast<double>(changed) / static_cast<double>(samples);
  }
  return result;
}

// ---------------------------------------------------------------------------------------------
// Decisions

/// A value that may be unknown.
enum class Ternary : std::uint8_t { zero, one, unknown };

Ternary ternary(bool value) { return value ? Ternary::one : Ternary::zero; }

/// The output of a gate if some inputs are unknown: known if all their values give the same.
Ternary value_of(const circuit::NetlistGate& gate, const std::vector<Ternary>& nets) {
  std::uint64_t possible =
      gate.arity == 6 ? ~std::uint64_t{0} : (std::uint64_t{1} << (1U << gate.arity)) - 1;
  for (std::size_t j = 0; j < gate.arity; ++j) {
    const Ternary value = nets[gate.inputs[j]];
    if (value == Ternary::unknown) continue;
    const std::uint64_t ones = circuit::variable_truth[j];
    possible &= value == Ternary::one ? ones : ~ones;
  }
  const std::uint64_t ones = gate.truth & possible;
  if (ones == 0) return Ternary::zero;
  return ones == possible ? Ternary::one : Ternary::unknown;
}

/// Propagates partly unknown inputs through a circuit, and says whether the answer follows.
class Propagation {
 public:
  Propagation(const circuit::Netlist& netlist, const Head* head, std::vector<Ternary> inputs)
      : netlist_(netlist), head_(head), nets_(std::move(inputs)) {
    nets_.resize(netlist.inputs.size() + netlist.gates.size());
    propagate();
    find_answer();
  }

  const std::vector<Ternary>& nets() const { return nets_; }
  Ternary output(std::size_t o) const { return nets_[netlist_.output_nets[o]]; }
  /// The class or value of the sample; 0 without a head.
  double answer() const { return answer_; }

  /// Makes inputs unknown if the answer still follows.
  bool free(std::span<const std::size_t> inputs) {
    std::vector<Ternary> before = nets_;
    for (const std::size_t input : inputs) nets_[input] = Ternary::unknown;
    propagate();
    if (is_decided()) return true;
    nets_ = std::move(before);
    return false;
  }

 private:
  void propagate() {
    for (std::size_t g = 0; g < netlist_.gates.size(); ++g) {
      nets_[netlist_.gate(g)] = value_of(netlist_.gates[g], nets_);
    }
  }

  /// The least and the largest sum of every group.
  struct Range {
    std::vector<double> low;
    std::vector<double> high;
  };
  Range sums() const {
    const auto groups = static_cast<std::size_t>(head_->groups());
    const std::size_t size = netlist_.output_nets.size() / groups;
    Range range{std::vector<double>(groups, 0), std::vector<double>(groups, 0)};
    for (std::size_t o = 0; o < groups * size; ++o) {
      const auto weight = static_cast<double>(head_->weight(o));
      if (output(o) == Ternary::one) range.low[o / size] += weight;
      if (output(o) != Ternary::zero) range.high[o / size] += weight;
    }
    return range;
  }

  void find_answer() {
    if (head_ == nullptr) return;
    const Range range = sums();
    answer_ = logic::predictions(*head_, Tensor::of(range.low, {std::ssize(range.low), 1}),
                                 std::ssize(netlist_.output_nets))[0];
  }

  bool is_decided() const {
    if (head_ == nullptr) {
      return std::ranges::all_of(netlist_.output_nets,
                                 [&](circuit::Net net) { return nets_[net] != Ternary::unknown; });
    }
    const Range range = sums();
    if (head_->kind == HeadKind::regression) return range.low == range.high;
    if (head_->has_votes()) return votes_are_decided(range);
    const auto winner = static_cast<std::size_t>(answer_);
    for (std::size_t c = 0; c < range.low.size(); ++c) {
      if (c == winner) continue;
      const bool wins =
          c < winner ? range.low[winner] > range.high[c] : range.low[winner] >= range.high[c];
      if (!wins) return false;
    }
    return true;
  }

  bool votes_are_decided(const Range& range) const {
    for (std::size_t g = 0; g < range.low.size(); ++g) {
      const auto largest = static_cast<double>(
          head_->largest_sum(static_cast<std::int64_t>(g), std::ssize(netlist_.output_nets)));
      if ((2 * range.low[g] > largest) != (2 * range.high[g] > largest)) return false;
    }
    return true;
  }

  const circuit::Netlist& netlist_;
  const Head* head_;
  std::vector<Ternary> nets_;
  double answer_ = 0;
};

std::vector<Ternary> inputs_of(const LoadedModel& loaded, const Tensor& sample,
                               std::size_t inputs) {
  std::vector<Ternary> result;
  if (loaded.model.classifier()) {
    const logic::Thresholds& thresholds = loaded.model.classifier()->thresholds;
    if (sample.rank() != 2 || sample.shape()[0] != 1 ||
        sample.shape()[1] != thresholds.features()) {
      fail(where, "expected one sample [1, {}], received {}", thresholds.features(),
           to_string(sample.shape()));
    }
    const logic::BitMatrix bits = thresholds.bits_of(sample);
    for (std::int64_t b = 0; b < bits.features; ++b) result.push_back(ternary(bits.at(b, 0)));
    return result;
  }
  if (sample.rank() != 2 || sample.shape()[0] != 1 ||
      std::cmp_not_equal(sample.shape()[1], inputs)) {
    fail(where, "expected one sample [1, {}], received {}", inputs, to_string(sample.shape()));
  }
  for (std::int64_t i = 0; i < sample.shape()[1]; ++i) result.push_back(ternary(sample.at(i) != 0));
  return result;
}

/// The bits of every input, by ascending thresholds.
std::vector<std::vector<std::size_t>> bits_by_input(const Influences& influences) {
  std::vector<std::vector<std::size_t>> bits(influences.inputs.size());
  for (std::size_t b = 0; b < influences.bits.size(); ++b) {
    bits[influences.bits[b].input].push_back(b);
  }
  for (std::vector<std::size_t>& of_input : bits) {
    std::ranges::stable_sort(of_input, {},
                             [&](std::size_t b) { return influences.bits[b].threshold; });
  }
  return bits;
}

/// Frees bits one by one until the answer needs one.
void free_first(std::span<const std::size_t> bits, Ternary value, Propagation& circuit) {
  for (const std::size_t bit : bits) {
    const std::array one{bit};
    if (circuit.nets()[bit] == value && !circuit.free(one)) return;
  }
}

/// Frees inputs, then thresholds of the inputs that are left, the least influential first. The ones
/// of an input belong to thresholds below its value, the zeros to those above: freeing them from
/// the value outwards leaves a range of values.
void free_inputs(const Influences& influences, Propagation& circuit) {
  const std::vector<std::vector<std::size_t>> bits = bits_by_input(influences);
  std::vector<std::size_t> order(bits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return influences.inputs[i].influence; });
  std::vector<std::size_t> kept;
  for (const std::size_t input : order) {
    if (!circuit.free(bits[input])) kept.push_back(input);
  }
  for (const std::size_t input : kept) {
    const std::vector<std::size_t> downwards(bits[input].rbegin(), bits[input].rend());
    free_first(downwards, Ternary::one, circuit);
    free_first(bits[input], Ternary::zero, circuit);
  }
}

/// The bits that are not free, without those that others imply: of the bounds of a feature, the
/// closest to its value on either side, and of a category that is known, nothing about the others.
std::vector<std::size_t> kept_bits(const LoadedModel& loaded, const Influences& influences,
                                   const Propagation& circuit) {
  std::vector<std::size_t> column(influences.inputs.size());
  std::iota(column.begin(), column.end(), std::size_t{0});
  if (loaded.model.classifier()) {
    std::size_t first = 0;
    for (const data::Column& one : loaded.model.classifier()->format.columns) {
      const std::size_t width = std::max<std::size_t>(1, one.categories.size());
      std::fill_n(column.begin() + static_cast<std::ptrdiff_t>(first), width, first);
      first += width;
    }
  }
  std::vector<std::size_t> kept;
  std::vector<bool> has_one(column.size(), false);  // by column
  for (const std::vector<std::size_t>& bits : bits_by_input(influences)) {
    const auto is = [&](Ternary value) {
      return [&, value](std::size_t bit) { return circuit.nets()[bit] == value; };
    };
    const auto below = std::find_if(bits.rbegin(), bits.rend(), is(Ternary::one));
    if (below != bits.rend()) {
      kept.push_back(*below);
      has_one[column[influences.bits[*below].input]] = true;
    }
    const auto above = std::ranges::find_if(bits, is(Ternary::zero));
    if (above != bits.end()) kept.push_back(*above);
  }
  std::erase_if(kept, [&](std::size_t bit) {
    const std::size_t input = influences.bits[bit].input;
    const bool of_category =
        column[input] != input || (input + 1 < column.size() && column[input + 1] == input);
    return of_category && circuit.nets()[bit] == Ternary::zero && has_one[column[input]];
  });
  return kept;
}

std::string answer_text(const LoadedModel& loaded, const circuit::Netlist& netlist,
                        const Propagation& circuit) {
  if (!loaded.model.classifier()) {
    std::string bits;
    for (std::size_t o = 0; o < netlist.outputs.size(); ++o) {
      bits += circuit.output(o) == Ternary::one ? '1' : '0';
    }
    return bits;
  }
  const Classifier& classifier = *loaded.model.classifier();
  if (classifier.head.kind == HeadKind::regression) return fmt::format("{:.6g}", circuit.answer());
  const auto number = static_cast<std::size_t>(circuit.answer());
  const std::vector<std::string>& names = classifier.format.classes;
  return number < names.size() ? names[number] : std::to_string(number);
}

/// The known gates that known outputs depend on, each with a formula of the nets it reads.
std::vector<DecidingGate> deciding_gates(const circuit::Netlist& netlist,
                                         const Influences& influences, const Propagation& circuit) {
  const std::vector<Ternary>& nets = circuit.nets();
  std::vector<bool> decides(nets.size(), false);
  for (const circuit::Net net : netlist.output_nets) decides[net] = nets[net] != Ternary::unknown;
  for (std::size_t g = netlist.gates.size(); g-- > 0;) {
    if (!decides[netlist.gate(g)]) continue;
    for (const circuit::Net source : netlist.gates[g].sources()) {
      if (nets[source] != Ternary::unknown) decides[source] = true;
    }
  }
  const auto name_of = [&](circuit::Net net) {
    if (!netlist.is_input(net)) return fmt::format("g{}", net - netlist.inputs.size());
    return fmt::format("[{}]", influences.bits[net].condition);
  };
  std::vector<DecidingGate> gates;
  for (std::size_t g = 0; g < netlist.gates.size(); ++g) {
    const circuit::Net net = netlist.gate(g);
    if (!decides[net]) continue;
    gates.push_back({.name = name_of(net),
                     .formula = circuit::infix_formula(netlist.gates[g], {"0", "1"}, name_of),
                     .value = nets[net] == Ternary::one});
  }
  return gates;
}

}  // namespace

std::int64_t Influences::read_inputs() const {
  return std::ranges::count_if(inputs, [](const InputInfluence& one) { return one.read > 0; });
}

Influences influences_of(const LoadedModel& loaded, const Tensor& samples) {
  const circuit::Netlist netlist = explained_netlist(loaded);
  const std::vector<bool> reached = circuit::reached_nets(netlist);
  Influences result;
  std::vector<double> by_bit;
  if (loaded.model.classifier()) {
    if (!samples.defined()) fail(where, "expected samples for a classifier, received none");
    result = classifier_bits(*loaded.model.classifier());
    by_bit = HardClassifier(*loaded.model.classifier(), netlist).influences(samples);
    result.samples = samples.shape()[0];
  } else {
    if (samples.defined()) fail(where, "expected no samples for a circuit, received some");
    result = circuit_bits(netlist);
    by_bit = output_influences(netlist, reached, result.samples);
  }
  for (std::size_t b = 0; b < result.bits.size(); ++b) {
    ReadBit& bit = result.bits[b];
    InputInfluence& input = result.inputs[bit.input];
    bit.influence = by_bit[b];
    bit.is_read = reached[b];
    input.influence += by_bit[b];
    ++input.bits;
    input.read += bit.is_read ? 1 : 0;
  }
  return result;
}

Decision decision_of(const LoadedModel& loaded, const Influences& influences,
                     const Tensor& sample) {
  const circuit::Netlist netlist = explained_netlist(loaded);
  const Head* head = loaded.model.classifier() ? &loaded.model.classifier()->head : nullptr;
  const std::vector<Ternary> inputs = inputs_of(loaded, sample, netlist.inputs.size());
  Propagation circuit(netlist, head, inputs);
  Decision decision;
  decision.answer = answer_text(loaded, netlist, circuit);
  free_inputs(influences, circuit);
  decision.kept_bits = kept_bits(loaded, influences, circuit);
  for (const std::size_t b : decision.kept_bits) {
    const ReadBit& bit = influences.bits[b];
    decision.conditions.push_back(inputs[b] == Ternary::one ? bit.condition : bit.opposite);
    decision.kept_inputs.push_back(bit.input);
  }
  std::ranges::sort(decision.kept_inputs);
  const auto repeated = std::unique(decision.kept_inputs.begin(), decision.kept_inputs.end());
  decision.kept_inputs.erase(repeated, decision.kept_inputs.end());
  decision.gates = deciding_gates(netlist, influences, circuit);
  decision.circuit_gates = circuit::gate_count(netlist);
  return decision;
}

Tensor circuit_inputs(const LoadedModel& loaded, std::int64_t number) {
  const std::int64_t inputs = std::ssize(netlist_of(loaded).inputs);
  if (number < 0 || (inputs < 63 && number >= std::int64_t{1} << inputs)) {
    fail(where, "expected an input from 0 to {}, received {}",
         (std::int64_t{1} << std::min<std::int64_t>(inputs, 62)) - 1, number);
  }
  Tensor result = Tensor::zeros({1, inputs}, DType::uint8);
  const std::span<std::uint8_t> bits = result.mutable_values<std::uint8_t>();
  for (std::size_t i = 0; i < std::min<std::size_t>(63, bits.size()); ++i) {
    bits[i] = static_cast<std::uint8_t>(number >> i & 1);
  }
  return result;
}

Tensor spread_samples(const Tensor& samples) {
  const std::int64_t count = samples.shape()[0];
  if (count <= max_samples) return samples;
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < max_samples; ++i) chosen.push_back(i * count / max_samples);
  const Tensor labels = Tensor::zeros({count}, DType::int32);
  return data::picked_samples({samples, labels}, chosen).features;
}

Tensor samples_to_explain(const LoadedModel& loaded) {
  if (!loaded.model.classifier()) {
    fail(where, "expected a classifier, received {}",
         loaded.model.is_automaton() ? "an automaton" : "a circuit");
  }
  if (!loaded.spec) fail(where, "the model has no experiment: expected samples, received none");
  const bool values = loaded.model.classifier()->head.kind == HeadKind::regression;
  return spread_samples(load_training_samples(*loaded.spec, values)->train.features);
}

}  // namespace boolgrad
