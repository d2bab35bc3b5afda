// Models and checkpoints on disk: a network, the experiment it belongs to and, for a checkpoint,
// what is needed to go on.
#pragma once

#include <filesystem>
#include <optional>

#include "boolgrad/logic/network.h"
#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/train/experiment.h"

namespace boolgrad {

/// A run at one moment.
struct Checkpoint {
  Experiment experiment;
  TensorFile state;    ///< as `Trainer::state` gives it
  double seconds = 0;  ///< spent so far
};

void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);
Checkpoint load_checkpoint(const std::filesystem::path& path);

/// A network to use. One that was not trained from an experiment has none.
struct Model {
  std::optional<Experiment> experiment;
  LogicNetwork network;
};

void save_model(const std::filesystem::path& path, const Experiment& experiment,
                const LogicNetwork& network);

/// Reads a model or a checkpoint.
Model load_model(const std::filesystem::path& path);

}  // namespace boolgrad
