// The keys of an experiment: how each is read, checked and written. Inside of `train/`.
#pragma once

#include <toml++/toml.h>
#include <functional>
#include <string>
#include <vector>

#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad {

struct ExperimentKey {
  std::string path;      ///< `training.steps`
  std::string expected;  ///< `an integer of at least 1`
  /// Stores a value; false where it is not what is expected.
  std::function<bool(Experiment&, const toml::node&)> read;
  /// The value in TOML.
  std::function<std::string(const Experiment&)> write;
};

/// All of them, top-level ones first and sections together.
const std::vector<ExperimentKey>& experiment_key_table();

}  // namespace boolgrad
