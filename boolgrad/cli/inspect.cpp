// `boolgrad inspect`: what a model consists of once it is hardened, and how hard it already is.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boolgrad/automata/bit_automaton.h"
#include "boolgrad/cli/command.h"
#include "boolgrad/core/text.h"
#include "boolgrad/train/checkpoint.h"
#include "boolgrad/train/diagnosis.h"
#include "boolgrad/train/inspection.h"
#include "boolgrad/train/learner.h"

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
                  const std::vector<double>& norms) {
  fmt::print("{}: {}{}\n", printable(path), architecture_text(model),
             model.experiment ? ", " + printable(model.experiment->name) : "");
  print_layers(inspection, norms);
  fmt::print("{} gates, {} of them active, depth {}\n", inspection.gates, inspection.active_gates,
             inspection.depth);
  if (model.is_automaton()) {
    fmt::print("{} word operations a cell and step once simplified, all channels together\n",
               BitAutomaton(model.rule()).operations());
  }
  for (const auto& [kind, count] : inspection.kinds) fmt::print("  {:<14}{:>9}\n", kind, count);
  fmt::print("soft against hard on {} inputs\n", inspection.samples);
}

nlohmann::json to_json(const Model& model, const Inspection& inspection,
                       const std::vector<double>& norms) {
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
    object["operations"] = BitAutomaton(model.rule()).operations();
  }
  return object;
}

int run(const std::string& path, const CommonOptions& common) {
  const Model model = load_model(path);
  const Inspection inspection =
      model.is_automaton() ? inspect(model.rule()) : inspect(model.network());
  const std::vector<double> norms = norms_of(model, path);
  if (!common.quiet) print_report(path, model, inspection, norms);
  if (common.json) print_json(to_json(model, inspection, norms));
  return 0;
}

}  // namespace

void add_inspect(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command =
      new_command(root, common, "inspect",
                  "Gates by kind, unused gates, depth, and soft against hard in every layer.",
                  "boolgrad inspect runs/add-1/model.safetensors");
  const auto path = std::make_shared<std::string>();
  command->add_option("model", *path, "A model or a checkpoint")->type_name("MODEL")->required();
  command->callback(
      [path, &common, &job] { job = [path, &common] { return run(*path, common); }; });
}

}  // namespace boolgrad::cli
