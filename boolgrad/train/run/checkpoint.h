// Models and checkpoints on disk: a network or a rule, the experiment it belongs to and, for a
// checkpoint, what is needed to go on.
#pragma once

#include <filesystem>
#include <optional>
#include <variant>

#include "boolgrad/automata/rule.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/model/classifier.h"
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

/// Something trained, to use. What was not trained from an experiment has none.
struct Model {
  std::optional<Experiment> experiment;
  std::variant<LogicNetwork, Rule> trained;
  std::optional<Classifier> classifier = std::nullopt;  ///< what makes a network one

  bool is_automaton() const { return std::holds_alternative<Rule>(trained); }
  /// The one that it is; the other throws.
  const LogicNetwork& network() const { return std::get<LogicNetwork>(trained); }
  const Rule& rule() const { return std::get<Rule>(trained); }
};

/// Saves `model`, as a network or a rule writes itself.
void save_model(const std::filesystem::path& path, const Experiment& experiment, TensorFile model);

/// Reads a model or a checkpoint.
Model load_model(const std::filesystem::path& path);

}  // namespace boolgrad
