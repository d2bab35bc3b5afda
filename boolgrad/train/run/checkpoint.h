// Checkpoints on disk: the model, its experiment and the state of training.
#pragma once

#include <filesystem>

#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad::train {

/// The state of a run.
struct Checkpoint {
  Experiment experiment;
  TensorFile state;    ///< as returned by `Trainer::state`
  double seconds = 0;  ///< spent so far
};

void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);
Checkpoint load_checkpoint(const std::filesystem::path& path);

}  // namespace boolgrad::train
