// `boolgrad explain`: which inputs a circuit reads, how much they matter, and what decided one
// answer.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "boolgrad/cli/command.h"
#include "boolgrad/cli/samples.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/explanation.h"
#include "boolgrad/model/explanation_picture.h"
#include "boolgrad/model/model.h"
#include "boolgrad/model/unlabelled_samples.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct ExplainArguments {
  std::string model;
  std::string data;
  std::optional<std::string> sample;
  std::string out;
  std::int64_t top = 20;
};

/// The samples of a classifier and the names that `--sample` knows them by.
struct Samples {
  Tensor features = {};
  std::vector<std::string> names = {};
  std::string what = "sample";
};

Samples samples_of(const ExplainArguments& arguments, const LoadedModel& loaded,
                   const CommonOptions& common) {
  if (!loaded.model.classifier()) return {};
  if (arguments.data.empty()) {
    Samples samples{samples_to_explain(loaded)};
    for (std::int64_t i = 0; i < samples.features.shape()[0]; ++i) {
      samples.names.push_back(std::to_string(i));
    }
    return samples;
  }
  UnlabelledSamples read = read_unlabelled_samples(arguments.data, *loaded.model.classifier());
  if (!common.quiet) print_refused(read);
  check_some_left("explain", arguments.data, read);
  return {std::move(read.features), std::move(read.names), std::move(read.what)};
}

/// The sample that `--sample` names: [1, features], or the inputs of a circuit.
Tensor chosen_sample(const ExplainArguments& arguments, const LoadedModel& loaded,
                     const Samples& samples) {
  const std::string& name = *arguments.sample;
  if (!loaded.model.classifier()) {
    std::int64_t number = 0;
    if (!CLI::detail::lexical_cast(name, number)) {
      fail("explain", "expected a number for --sample, received '{}'", printable(name));
    }
    return circuit_inputs(loaded, number);
  }
  const auto found = std::ranges::find(samples.names, name);
  if (found == samples.names.end()) {
    fail("explain", "expected a {} from {} to {} for --sample, received '{}'", samples.what,
         printable(samples.names.front()), printable(samples.names.back()), printable(name));
  }
  const std::int64_t row = found - samples.names.begin();
  return slice(samples.features, 0, row, row + 1);
}

std::vector<std::size_t> by_influence(const Influences& influences) {
  std::vector<std::size_t> order(influences.inputs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t i) { return influences.inputs[i].influence; });
  return order;
}

/// The bit of an input with the most influence; null if none is read.
const ReadBit* strongest_bit(const Influences& influences, std::size_t input) {
  const ReadBit* strongest = nullptr;
  for (const ReadBit& bit : influences.bits) {
    if (bit.input != input || !bit.is_read) continue;
    if (strongest == nullptr || bit.influence > strongest->influence) strongest = &bit;
  }
  return strongest;
}

void print_influences(const ExplainArguments& arguments, const LoadedModel& loaded,
                      const Influences& influences) {
  const bool has_features = loaded.model.classifier().has_value();
  fmt::print("{}: reads {} of {} {}, on {} samples\n", printable(arguments.model),
             influences.read_inputs(), influences.inputs.size(),
             has_features ? "features" : "inputs", influences.samples);
  std::size_t width = 7;
  std::vector<std::size_t> order = by_influence(influences);
  const std::size_t hidden =
      order.size() - std::min<std::size_t>(order.size(), static_cast<std::size_t>(arguments.top));
  order.resize(order.size() - hidden);
  constexpr std::size_t widest = 40;
  for (const std::size_t i : order) {
    width = std::max(width, std::min(widest, printable(influences.inputs[i].name).size()));
  }
  fmt::print("  {:<{}}  {:>9}  {:>9}  {}\n", has_features ? "feature" : "input", width, "bits read",
             "influence", "bit with the most influence");
  for (const std::size_t i : order) {
    const InputInfluence& input = influences.inputs[i];
    const ReadBit* strongest = strongest_bit(influences, i);
    fmt::print("  {:<{}}  {:>9}  {:>9.4f}  {}\n", utf8_prefix(printable(input.name), widest), width,
               fmt::format("{} of {}", input.read, input.bits), input.influence,
               strongest == nullptr ? ""
                                    : fmt::format("{:.1f} % {}", 100 * strongest->influence,
                                                  printable(strongest->condition)));
  }
  if (hidden > 0) fmt::print("  {} more with less influence\n", hidden);
}

void print_decision(const ExplainArguments& arguments, const Samples& samples,
                    const Decision& decision) {
  constexpr std::size_t max_printed = 40;
  fmt::print("{} {}: {}\n", samples.what, printable(*arguments.sample), printable(decision.answer));
  if (decision.conditions.empty()) {
    fmt::print("  whatever the inputs are\n");
    return;
  }
  fmt::print("  whatever else the inputs are, because\n");
  for (std::size_t i = 0; i < std::min(max_printed, decision.conditions.size()); ++i) {
    fmt::print("    {}\n", printable(decision.conditions[i]));
  }
  if (decision.conditions.size() > max_printed) {
    fmt::print("    and {} more\n", decision.conditions.size() - max_printed);
  }
  fmt::print("  decided by {} of {} gates\n", decision.gates.size(), decision.circuit_gates);
  if (decision.gates.size() > max_printed) return;
  for (const DecidingGate& gate : decision.gates) {
    fmt::print("    {} = {:d}  {}\n", gate.name, gate.value, printable(gate.formula));
  }
}

json to_json(const Influences& influences) {
  json inputs = json::array();
  for (std::size_t i = 0; i < influences.inputs.size(); ++i) {
    const InputInfluence& input = influences.inputs[i];
    inputs.push_back({{"name", input.name},
                      {"bits", input.bits},
                      {"read", input.read},
                      {"influence", input.influence}});
  }
  json bits = json::array();
  for (const ReadBit& bit : influences.bits) {
    bits.push_back({{"input", bit.input},
                    {"condition", bit.condition},
                    {"read", bit.is_read},
                    {"influence", bit.influence}});
  }
  return {{"samples", influences.samples},
          {"read", influences.read_inputs()},
          {"inputs", std::move(inputs)},
          {"bits", std::move(bits)}};
}

json to_json(const std::string& sample, const Decision& decision) {
  json gates = json::array();
  for (const DecidingGate& gate : decision.gates) {
    gates.push_back({{"name", gate.name}, {"formula", gate.formula}, {"value", gate.value}});
  }
  return {{"sample", sample},
          {"answer", decision.answer},
          {"conditions", decision.conditions},
          {"inputs", decision.kept_inputs},
          {"circuit_gates", decision.circuit_gates},
          {"gates", std::move(gates)}};
}

/// Draws the decision for images, else the influences.
std::string draw(const ExplainArguments& arguments, const LoadedModel& loaded,
                 const Influences& influences, const std::optional<Decision>& decision,
                 const Tensor& sample) {
  const bool draws_decision =
      decision && loaded.model.classifier() && loaded.model.classifier()->format.is_image();
  const fs::path path =
      arguments.out.empty()
          ? fs::path(arguments.model).parent_path() /
                (draws_decision ? file_name_of("decision-" + *arguments.sample) + ".png"
                                : "influences.png")
          : fs::path(arguments.out);
  if (draws_decision) save_decision(path, loaded, influences, *decision, sample);
  else save_influences(path, loaded, influences);
  return path.string();
}

int run(const ExplainArguments& arguments, const CommonOptions& common) {
  const LoadedModel loaded = load_model(arguments.model);
  if (!loaded.model.classifier() && !arguments.data.empty()) {
    throw UsageError("[explain] --data is for classifiers, not for circuits and automata");
  }
  const Samples samples = samples_of(arguments, loaded, common);
  std::optional<Decision> decision;
  Tensor sample;
  if (arguments.sample) sample = chosen_sample(arguments, loaded, samples);
  const Influences influences = influences_of(
      loaded, samples.features.defined() ? spread_samples(samples.features) : Tensor());
  if (arguments.sample) decision = decision_of(loaded, influences, sample);
  const std::string picture = draw(arguments, loaded, influences, decision, sample);
  if (!common.quiet) {
    if (decision) print_decision(arguments, samples, *decision);
    else print_influences(arguments, loaded, influences);
    fmt::print("  picture {}\n", printable(picture));
  }
  if (common.json) {
    json object = to_json(influences);
    object["model"] = arguments.model;
    object["picture"] = picture;
    if (decision) object["decision"] = to_json(*arguments.sample, *decision);
    print_json(object);
  }
  return 0;
}

}  // namespace

void add_explain(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command = new_command(
      root, common, "explain", "Show which inputs matter, and what decided one answer.",
      "boolgrad explain runs/iris-1\n"
      "  boolgrad explain runs/iris-1 --data new.csv --sample 2\n"
      "  boolgrad explain runs/mnist-1 --data digits --sample seven.png -o why.png",
      "The influence of an input is the share of the samples whose answer changes if one of its\n"
      "bits is flipped, added up over its bits. With --sample, a set of conditions is printed\n"
      "that is enough for the answer, and the gates that they decide.");
  const auto arguments = std::make_shared<ExplainArguments>();
  add_model(*command, arguments->model);
  command
      ->add_option("--data", arguments->data,
                   "Samples, as for predict; by default those of the training")
      ->type_name("PATH");
  command
      ->add_option("--sample", arguments->sample,
                   "Explain the answer for one sample: its line of a CSV file, its file, or its "
                   "number from 0. For a circuit, the inputs as a number")
      ->type_name("NAME");
  command->add_option("--top", arguments->top, "Number of inputs to print")
      ->type_name("K")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("-o,--out", arguments->out,
                   "Picture to write; influences.png or decision-NAME.png next to the model by "
                   "default")
      ->type_name("PNG");
  command->callback([arguments, &common, &job] {
    job = [arguments, &common] { return run(*arguments, common); };
  });
}

}  // namespace boolgrad::cli
