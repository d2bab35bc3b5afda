#include "boolgrad/train/run/checkpoint.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "boolgrad/circuit/formats/text.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/model/model.h"
#include "boolgrad/model/tensor_checks.h"
#include "boolgrad/train/experiment/initial_circuit.h"

namespace boolgrad::train {
namespace {

constexpr const char* seconds_key = "seconds";
constexpr const char* circuit_key = "initial_circuit";

std::optional<Experiment> experiment_in(const TensorFile& file, const std::filesystem::path& path) {
  const auto found = file.metadata.find(experiment_metadata_key);
  if (found == file.metadata.end()) return std::nullopt;
  Experiment experiment = parse_experiment(found->second, path.string(), path.stem().string(), "");
  const auto text = file.metadata.find(circuit_key);
  if (text != file.metadata.end()) {
    experiment.network.circuit = std::make_shared<const InitialCircuit>(InitialCircuit{
        experiment.network.init_circuit, circuit::netlist_from_text(text->second, path.string())});
  }
  return experiment;
}

double seconds_in(const TensorFile& file) {
  const auto found = file.metadata.find(seconds_key);
  const double seconds =
      found == file.metadata.end() ? 0 : std::strtod(found->second.c_str(), nullptr);
  return std::isfinite(seconds) && seconds > 0 ? seconds : 0;
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
  TensorFile file = checkpoint.state;
  file.metadata[experiment_metadata_key] = to_toml(checkpoint.experiment);
  if (const auto& circuit = checkpoint.experiment.network.circuit) {
    file.metadata[circuit_key] = circuit::to_text(circuit->netlist);
  }
  file.metadata[seconds_key] = fmt::format("{}", checkpoint.seconds);
  save_safetensors(path, file);
}

Checkpoint load_checkpoint(const std::filesystem::path& path) {
  TensorFile file = load_safetensors(path);
  std::optional<Experiment> experiment = experiment_in(file, path);
  if (!experiment) {
    fail("resume", "{}: not a checkpoint: it has no experiment", path.string());
  }
  check_tensors(file, "resume", path.string());
  const double seconds = seconds_in(file);
  return {.experiment = *std::move(experiment), .state = std::move(file), .seconds = seconds};
}

}  // namespace boolgrad::train
