// Checkpoints on disk: a model, the experiment it belongs to, and what is needed to go on.
#pragma once

#include <filesystem>

#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad {

/// A run at one moment.
struct Checkpoint {
  Experiment experiment;
  TensorFile state;    ///< as `Trainer::state` gives it
  double seconds = 0;  ///< spent so far
};

void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);
Checkpoint load_checkpoint(const std::filesystem::path& path);

}  // namespace boolgrad
