#include "boolgrad/train/run/checkpoint.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

#include "boolgrad/core/error.h"

namespace boolgrad {
namespace {

constexpr const char* experiment_key = "experiment";
constexpr const char* seconds_key = "seconds";

std::optional<Experiment> experiment_in(const TensorFile& file, const std::filesystem::path& path) {
  const auto found = file.metadata.find(experiment_key);
  if (found == file.metadata.end()) return std::nullopt;
  return parse_experiment(found->second, path.string(), path.stem().string(), "");
}

double seconds_in(const TensorFile& file) {
  const auto found = file.metadata.find(seconds_key);
  const double seconds =
      found == file.metadata.end() ? 0 : std::strtod(found->second.c_str(), nullptr);
  return std::isfinite(seconds) && seconds > 0 ? seconds : 0;
}

Classifier classifier_of(const TensorFile& file, const LogicNetwork& network,
                         const std::filesystem::path& path) {
  Classifier classifier = Classifier::from_file(file);
  const std::int64_t groups = classifier.head.groups();
  if (classifier.thresholds.bits() != network.inputs() || groups < 1 ||
      network.outputs() % groups != 0) {
    fail("classifier",
         "{}: expected a network of {} inputs and a multiple of {} outputs, received {} and {}",
         path.string(), classifier.thresholds.bits(), groups, network.inputs(), network.outputs());
  }
  return classifier;
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
  TensorFile file = checkpoint.state;
  file.metadata[experiment_key] = to_toml(checkpoint.experiment);
  file.metadata[seconds_key] = fmt::format("{}", checkpoint.seconds);
  save_safetensors(path, file);
}

Checkpoint load_checkpoint(const std::filesystem::path& path) {
  TensorFile file = load_safetensors(path);
  std::optional<Experiment> experiment = experiment_in(file, path);
  if (!experiment) {
    fail("resume", "{}: expected a checkpoint with its experiment, received a file without",
         path.string());
  }
  const double seconds = seconds_in(file);
  return {.experiment = *std::move(experiment), .state = std::move(file), .seconds = seconds};
}

void save_model(const std::filesystem::path& path, const Experiment& experiment, TensorFile model) {
  model.metadata[experiment_key] = to_toml(experiment);
  save_safetensors(path, model);
}

Model load_model(const std::filesystem::path& path) {
  const TensorFile file = load_safetensors(path);
  if (Rule::is_in(file)) return {experiment_in(file, path), Rule::from_file(file)};
  Model model{experiment_in(file, path), LogicNetwork::from_file(file)};
  if (Classifier::is_in(file)) model.classifier = classifier_of(file, model.network(), path);
  return model;
}

}  // namespace boolgrad
