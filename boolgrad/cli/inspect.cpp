// `boolgrad inspect`: statistics of a hardened model, and differences between soft and hard.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/automata/rule_netlist.h"
#include "boolgrad/automata/simplified_automaton.h"
#include "boolgrad/circuit/encoder.h"
#include "boolgrad/circuit/harden.h"
#include "boolgrad/circuit/passes/mapping.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/passes/simplify_tables.h"
#include "boolgrad/cli/command.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/export.h"
#include "boolgrad/model/inspection.h"
#include "boolgrad/model/model.h"
#include "boolgrad/options/names.h"
#include "boolgrad/train/learners/learner.h"

namespace boolgrad::cli {
namespace {

/// `norms` has one value per layer, or is empty if the model has no experiment.
void print_layers(const Inspection& inspection, const std::vector<double>& norms) {
  fmt::print("{:>6}{:>9}{:>9}{:>9}{:>7}{:>10}{:>11}{:>12}{:>11}{}\n", "layer", "gates", "active",
             "unused", "off", "entropy", "undecided", "soft-hard", "disagree",
             norms.empty() ? "" : fmt::format("{:>12}", "gradient"));
  for (std::size_t i = 0; i < inspection.layers.size(); ++i) {
    const LayerInspection& layer = inspection.layers[i];
    fmt::print("{:>6}{:>9}{:>9}{:>9}{:>7}{:>10.4f}{:>10.2f}%{:>12.4f}{:>10.2f}%{}\n", i + 1,
               layer.gates, layer.active, layer.gates - layer.active - layer.off, layer.off,
               layer.entropy, 100 * layer.undecided, layer.gap, 100 * layer.disagreement,
               norms.empty() ? "" : fmt::format("{:>12.4g}", norms[i]));
  }
}

std::string architecture_text(const LoadedModel& loaded) {
  if (!loaded.model.is_automaton()) {
    return fmt::format("{} inputs, {} outputs, {}", loaded.model.network().inputs(),
                       loaded.model.network().outputs(),
                       to_string(loaded.model.network().parametrisation()));
  }
  const automata::Rule& rule = loaded.model.rule();
  return fmt::format("an automaton of {} channels and {} kernels, borders {}, {}", rule.channels(),
                     rule.kernels(), to_string(rule.border()),
                     to_string(rule.update().parametrisation()));
}

/// The norms of the training gradients; empty if the model has no experiment.
std::vector<double> norms_of(const LoadedModel& loaded, const std::string& path) {
  if (!loaded.spec) return {};
  const TensorFile file = load_safetensors(path);
  const train::Experiment experiment = train::with_epochs_in_steps(
      train::parse_experiment(file.metadata.at(experiment_metadata_key), path, "", ""));
  const std::unique_ptr<train::Learner> learner = train::make_learner(experiment);
  learner->enter(experiment.training.steps);
  learner->model().restore(file);
  learner->load_progress(file);
  learner->load(train::zero_moments(learner->model().parameters(), experiment.training.steps));
  return learner->gradient_norms(experiment.training.steps);
}

void print_report(const std::string& path, const LoadedModel& loaded, const Inspection& inspection,
                  const std::vector<double>& norms, std::int64_t operations) {
  fmt::print("{}: {}{}\n", printable(path), architecture_text(loaded),
             loaded.spec ? ", " + printable(loaded.spec->name) : "");
  print_layers(inspection, norms);
  fmt::print("{} gates, {} of them active, depth {}\n", inspection.gates, inspection.active_gates,
             inspection.depth);
  if (loaded.model.is_automaton()) {
    fmt::print("{} word operations per cell and step, simplified, all channels together\n",
               operations);
  }
  for (const auto& [kind, count] : inspection.kinds) fmt::print("  {:<14}{:>9}\n", kind, count);
  fmt::print("soft and hard compared on {} inputs\n", inspection.samples);
}

nlohmann::json to_json(const LoadedModel& loaded, const Inspection& inspection,
                       const std::vector<double>& norms, std::int64_t operations) {
  nlohmann::json layers = nlohmann::json::array();
  for (std::size_t i = 0; i < inspection.layers.size(); ++i) {
    const LayerInspection& layer = inspection.layers[i];
    layers.push_back({{"gates", layer.gates},
                      {"active_gates", layer.active},
                      {"off", layer.off},
                      {"entropy", layer.entropy},
                      {"undecided", layer.undecided},
                      {"soft_hard_gap", layer.gap},
                      {"disagreement", layer.disagreement}});
    if (!norms.empty()) layers.back()["gradient_norm"] = norms[i];
  }
  nlohmann::json kinds = nlohmann::json::object();
  for (const auto& [kind, count] : inspection.kinds) kinds[kind] = count;
  const logic::Network& network =
      loaded.model.is_automaton() ? loaded.model.rule().update() : loaded.model.network();
  nlohmann::json object = {{"inputs", network.inputs()},
                           {"outputs", network.outputs()},
                           {"parametrisation", to_string(network.parametrisation())},
                           {"gates", inspection.gates},
                           {"active_gates", inspection.active_gates},
                           {"depth", inspection.depth},
                           {"kinds", std::move(kinds)},
                           {"layers", std::move(layers)},
                           {"samples", inspection.samples}};
  if (loaded.model.is_automaton()) {
    object["channels"] = loaded.model.rule().channels();
    object["kernels"] = loaded.model.rule().kernels();
    object["border"] = to_string(loaded.model.rule().border());
    object["operations"] = operations;
  }
  return object;
}

circuit::Netlist hardened(const LoadedModel& loaded) {
  return loaded.model.is_automaton() ? harden(loaded.model.rule())
                                     : circuit::harden(loaded.model.network());
}

/// The look-up tables of six inputs that a circuit needs.
struct Lut6Counts {
  std::int64_t tables = 0;
  std::int64_t depth = 0;
  // Only for classifiers of bytes:
  std::optional<std::int64_t> thresholds = {};  ///< different ones that the circuit needs
  std::int64_t encoder = 0;                     ///< tables that compare features with them
};

Lut6Counts lut6_counts(const LoadedModel& loaded, const circuit::Netlist& trained,
                       const circuit::Netlist& simplified) {
  const circuit::Netlist covered = circuit::cover_with_lut6(trained, simplified);
  Lut6Counts counts{.tables = circuit::gate_count(covered), .depth = circuit::depth(covered)};
  const std::optional<Classifier>& classifier = loaded.model.classifier();
  if (!classifier || !classifier->has_bytes) return counts;
  const circuit::Netlist encoder = circuit::byte_encoder(classifier->thresholds, covered);
  counts.thresholds = std::ssize(encoder.outputs);
  counts.encoder =
      circuit::gate_count(circuit::map_to_luts(encoder, {.inputs = 6, .keeps_depth = false}));
  return counts;
}

void print_lut6(const Lut6Counts& counts) {
  fmt::print("{} LUT6, depth {}\n", counts.tables, counts.depth);
  if (!counts.thresholds) return;
  fmt::print("  with encoder {} LUT6: {} thresholds take {}\n", counts.tables + counts.encoder,
             *counts.thresholds, counts.encoder);
}

nlohmann::json to_json(const Lut6Counts& counts) {
  nlohmann::json object = {{"tables", counts.tables}, {"depth", counts.depth}};
  if (counts.thresholds) {
    object["thresholds"] = *counts.thresholds;
    object["encoder"] = counts.encoder;
  }
  return object;
}

void print_passes(const std::vector<circuit::PassStats>& passes, std::string_view first) {
  fmt::print("{:<26}{:>9}{:>9}\n", "pass", "gates", "depth");
  fmt::print("{:<26}{:>9}{:>9}\n", first, passes[0].gates_before, passes[0].depth_before);
  for (const circuit::PassStats& pass : passes) {
    fmt::print("{:<26}{:>9}{:>9}\n", pass.pass, pass.gates_after, pass.depth_after);
  }
}

nlohmann::json to_json(const std::vector<circuit::PassStats>& passes) {
  nlohmann::json list = nlohmann::json::array();
  for (const circuit::PassStats& pass : passes) {
    list.push_back({{"pass", pass.pass},
                    {"gates_before", pass.gates_before},
                    {"gates", pass.gates_after},
                    {"depth_before", pass.depth_before},
                    {"depth", pass.depth_after}});
  }
  return list;
}

/// The look-up tables of four inputs that a simplified circuit needs.
circuit::MappingStats lut4_counts(const circuit::Netlist& simplified) {
  circuit::MappingStats stats;
  circuit::map_to_luts(simplified, {.inputs = 4, .keeps_depth = false}, &stats);
  return stats;
}

void print_lut4(const circuit::MappingStats& counts) {
  fmt::print("{} LUT4, depth {}\n", counts.tables, counts.depth);
}

nlohmann::json to_json(const circuit::MappingStats& counts) {
  return {{"tables", counts.tables}, {"depth", counts.depth}};
}

struct InspectOptions {
  std::string path;
  bool passes = false;
  bool lut4 = false;
  bool lut6 = false;
};

/// A circuit from a file: its size, by kinds of gates.
int run_circuit(const InspectOptions& options, const CommonOptions& common) {
  const circuit::Netlist read = load_circuit(options.path).netlist;
  std::vector<circuit::PassStats> passes;
  circuit::MappingStats lut4;
  Lut6Counts lut6;
  if (options.passes || options.lut4 || options.lut6) {
    const circuit::Netlist simplified = circuit::simplify(read, {}, &passes);
    if (options.lut4) lut4 = lut4_counts(simplified);
    const circuit::Netlist covered = circuit::cover_with_lut6(read, simplified);
    lut6 = {.tables = circuit::gate_count(covered), .depth = circuit::depth(covered)};
  }
  std::map<std::size_t, std::int64_t> arities;
  for (const circuit::NetlistGate& gate : read.gates) {
    if (gate.arity > 0) ++arities[gate.arity];
  }
  if (!common.quiet) {
    fmt::print("{}: {} inputs, {} outputs{}\n", printable(options.path), read.inputs.size(),
               read.outputs.size(),
               read.state
                   ? fmt::format(", the rule of an automaton of {} channels", read.state->channels)
                   : "");
    fmt::print("{} gates, depth {}\n", circuit::gate_count(read), circuit::depth(read));
    for (const auto& [arity, count] : arities) {
      fmt::print("  {:<14}{:>9}\n", fmt::format("{} input{}", arity, arity == 1 ? "" : "s"), count);
    }
    if (options.passes) print_passes(passes, "as read");
    if (options.lut4) print_lut4(lut4);
    if (options.lut6) print_lut6(lut6);
  }
  if (common.json) {
    nlohmann::json object = {{"inputs", read.inputs.size()},
                             {"outputs", read.outputs.size()},
                             {"gates", circuit::gate_count(read)},
                             {"depth", circuit::depth(read)}};
    for (const auto& [arity, count] : arities) object["arities"][std::to_string(arity)] = count;
    if (options.passes) object["passes"] = to_json(passes);
    if (options.lut4) object["lut4"] = to_json(lut4);
    if (options.lut6) object["lut6"] = to_json(lut6);
    print_json(object);
  }
  return 0;
}

int run(const InspectOptions& options, const CommonOptions& common) {
  if (is_circuit_file(options.path)) return run_circuit(options, common);
  const LoadedModel loaded = load_model(options.path);
  const Inspection inspection = loaded.model.inspect();
  const std::vector<double> norms = norms_of(loaded, options.path);
  std::vector<circuit::PassStats> passes;
  circuit::MappingStats lut4;
  Lut6Counts lut6;
  if (options.passes || options.lut4 || options.lut6) {
    const circuit::Netlist trained = hardened(loaded);
    const circuit::Netlist simplified = circuit::simplify(trained, {}, &passes);
    if (options.lut4) lut4 = lut4_counts(simplified);
    if (options.lut6) lut6 = lut6_counts(loaded, trained, simplified);
  }
  const std::int64_t operations =  // per cell
      loaded.model.is_automaton() ? automata::simplified_automaton(loaded.model.rule()).operations()
                                  : 0;
  if (!common.quiet) print_report(options.path, loaded, inspection, norms, operations);
  if (!common.quiet && options.passes) print_passes(passes, "as trained");
  if (!common.quiet && options.lut4) print_lut4(lut4);
  if (!common.quiet && options.lut6) print_lut6(lut6);
  if (common.json) {
    nlohmann::json object = to_json(loaded, inspection, norms, operations);
    if (options.passes) object["passes"] = to_json(passes);
    if (options.lut4) object["lut4"] = to_json(lut4);
    if (options.lut6) object["lut6"] = to_json(lut6);
    print_json(object);
  }
  return 0;
}

}  // namespace

void add_inspect(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command = new_command(root, common, "inspect",
                                  "Show gates by kind, depth, and soft-hard differences per layer.",
                                  "boolgrad inspect runs/add-1/model.safetensors",
                                  "MODEL may be a circuit as well: netlist text, BLIF, AIGER, "
                                  "structural Verilog or an HTML viewer.");
  const auto options = std::make_shared<InspectOptions>();
  add_model(*command, options->path);
  command->add_flag("--passes", options->passes,
                    "Simplify the hardened circuit and print its size after each pass");
  command->add_flag("--lut4", options->lut4,
                    "Count the look-up tables of four inputs that the simplified circuit needs, "
                    "without the sums and the thresholds of a classifier");
  command->add_flag("--lut6", options->lut6,
                    "Count the look-up tables of six inputs that the simplified circuit needs, "
                    "without the sums of a classifier, and with the encoder of its thresholds");
  command->callback(
      [options, &common, &job] { job = [options, &common] { return run(*options, common); }; });
}

}  // namespace boolgrad::cli
