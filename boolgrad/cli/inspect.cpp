// `boolgrad inspect`: what a model consists of once it is hardened, and how hard it already is.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boolgrad/circuit/from_model.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/automata/simplified_automaton.h"
#include "boolgrad/cli/command.h"
#include "boolgrad/core/text.h"
#include "boolgrad/train/run/checkpoint.h"
#include "boolgrad/train/run/diagnosis.h"
#include "boolgrad/model/inspection.h"
#include "boolgrad/train/learners/learner.h"

namespace boolgrad::cli {
namespace {

/// `norms` has a value a layer, or none where nothing is known of the training.
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

std::string architecture_text(const Model& model) {
  if (!model.is_automaton()) {
    return fmt::format("{} inputs, {} outputs, {}", model.network().inputs(),
                       model.network().outputs(), to_string(model.network().parametrisation()));
  }
  const Rule& rule = model.rule();
  return fmt::format("an automaton of {} channels and {} kernels, borders {}, {}", rule.channels(),
                     rule.kernels(), to_string(rule.border()),
                     to_string(rule.update().parametrisation()));
}

/// How training would pull at a model; empty where its experiment is not known.
std::vector<double> norms_of(const Model& model, const std::string& path) {
  if (!model.experiment) return {};
  const std::unique_ptr<Learner> learner = make_learner(*model.experiment);
  const TensorFile file = load_safetensors(path);
  learner->restore(file);
  learner->load_progress(file);
  return gradient_norms(*model.experiment, *learner, model.experiment->training.steps);
}

void print_report(const std::string& path, const Model& model, const Inspection& inspection,
                  const std::vector<double>& norms, std::int64_t operations) {
  fmt::print("{}: {}{}\n", printable(path), architecture_text(model),
             model.experiment ? ", " + printable(model.experiment->name) : "");
  print_layers(inspection, norms);
  fmt::print("{} gates, {} of them active, depth {}\n", inspection.gates, inspection.active_gates,
             inspection.depth);
  if (model.is_automaton()) {
    fmt::print("{} word operations a cell and step once simplified, all channels together\n",
               operations);
  }
  for (const auto& [kind, count] : inspection.kinds) fmt::print("  {:<14}{:>9}\n", kind, count);
  fmt::print("soft against hard on {} inputs\n", inspection.samples);
}

nlohmann::json to_json(const Model& model, const Inspection& inspection,
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
  const LogicNetwork& network = model.is_automaton() ? model.rule().update() : model.network();
  nlohmann::json object = {{"inputs", network.inputs()},
                           {"outputs", network.outputs()},
                           {"parametrisation", to_string(network.parametrisation())},
                           {"gates", inspection.gates},
                           {"active_gates", inspection.active_gates},
                           {"depth", inspection.depth},
                           {"kinds", std::move(kinds)},
                           {"layers", std::move(layers)},
                           {"samples", inspection.samples}};
  if (model.is_automaton()) {
    object["channels"] = model.rule().channels();
    object["kernels"] = model.rule().kernels();
    object["border"] = to_string(model.rule().border());
    object["operations"] = operations;
  }
  return object;
}

/// What each pass leaves of the hardened circuit.
std::vector<PassStats> passes_of(const Model& model) {
  std::vector<PassStats> stats;
  simplified(model.is_automaton() ? netlist_of(model.rule()) : netlist_of(model.network()), {},
             &stats);
  return stats;
}

void print_passes(const std::vector<PassStats>& passes) {
  fmt::print("{:<14}{:>9}{:>9}\n", "pass", "gates", "depth");
  fmt::print("{:<14}{:>9}{:>9}\n", "as trained", passes[0].gates_before, passes[0].depth_before);
  for (const PassStats& pass : passes) {
    fmt::print("{:<14}{:>9}{:>9}\n", pass.pass, pass.gates_after, pass.depth_after);
  }
}

nlohmann::json to_json(const std::vector<PassStats>& passes) {
  nlohmann::json list = nlohmann::json::array();
  for (const PassStats& pass : passes) {
    list.push_back({{"pass", pass.pass},
                    {"gates_before", pass.gates_before},
                    {"gates", pass.gates_after},
                    {"depth_before", pass.depth_before},
                    {"depth", pass.depth_after}});
  }
  return list;
}

struct InspectOptions {
  std::string path;
  bool passes = false;
};

int run(const InspectOptions& options, const CommonOptions& common) {
  const Model model = load_model(options.path);
  const Inspection inspection =
      model.is_automaton() ? inspect(model.rule()) : inspect(model.network());
  const std::vector<double> norms = norms_of(model, options.path);
  std::vector<PassStats> passes;
  if (options.passes) passes = passes_of(model);
  const std::int64_t operations =  // of a cell
      model.is_automaton() ? simplified_automaton(model.rule()).operations() : 0;
  if (!common.quiet) print_report(options.path, model, inspection, norms, operations);
  if (!common.quiet && options.passes) print_passes(passes);
  if (common.json) {
    nlohmann::json object = to_json(model, inspection, norms, operations);
    if (options.passes) object["passes"] = to_json(passes);
    print_json(object);
  }
  return 0;
}

}  // namespace

void add_inspect(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command =
      new_command(root, common, "inspect",
                  "Gates by kind, unused gates, depth, and soft against hard in every layer.",
                  "boolgrad inspect runs/add-1/model.safetensors");
  const auto options = std::make_shared<InspectOptions>();
  command->add_option("model", options->path, "A model or a checkpoint")
      ->type_name("MODEL")
      ->required();
  command->add_flag("--passes", options->passes,
                    "Simplify the hardened circuit and say what each pass leaves of it");
  command->callback(
      [options, &common, &job] { job = [options, &common] { return run(*options, common); }; });
}

}  // namespace boolgrad::cli
