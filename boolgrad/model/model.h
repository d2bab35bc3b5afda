// Something trained, to use: a network or a rule, what makes a network a classifier, and what it
// was trained to do. Nothing here knows about training.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "boolgrad/automata/rule.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/model/classifier.h"
#include "boolgrad/model/inspection.h"
#include "boolgrad/model/spec.h"
#include "boolgrad/tensor/safetensors.h"

namespace boolgrad {

class Model {
 public:
  Model(LogicNetwork network, std::optional<Classifier> classifier = std::nullopt);
  explicit Model(Rule rule);

  bool is_automaton() const { return std::holds_alternative<Rule>(trained_); }
  /// The one that it is; the other throws.
  const LogicNetwork& network() const { return std::get<LogicNetwork>(trained_); }
  LogicNetwork& network() { return std::get<LogicNetwork>(trained_); }
  const Rule& rule() const { return std::get<Rule>(trained_); }

  /// What makes a network a classifier.
  const std::optional<Classifier>& classifier() const { return classifier_; }
  std::optional<Classifier>& classifier() { return classifier_; }

  /// What was trained, in a fixed order: logits of all layers (of a rule, perception first), then
  /// offsets of thresholds where they were learned.
  std::vector<Tensor> parameters() const;
  Parametrisation parametrisation() const;
  std::vector<Tensor> masks() const;

  /// The soft tables of these logits for all layers, masked gates all 0.
  std::vector<Tensor> tables(const std::vector<Tensor>& logits) const;

  /// Gates and inputs that are switched off.
  std::int64_t masked_count() const;
  /// Which gates of which layer the hardened outputs depend on.
  std::vector<std::vector<bool>> active_gates() const;
  Inspection inspect() const;

  /// Wires, logits, masks, thresholds and head. `restore` takes over those of another model of the
  /// same kind.
  TensorFile to_file() const;
  void restore(const TensorFile& file);
  static Model from_file(const TensorFile& file, const std::string& source);

 private:
  std::variant<LogicNetwork, Rule> trained_;
  std::optional<Classifier> classifier_;
};

/// A model and what it was trained to do; what was not trained from an experiment has no
/// specification.
struct LoadedModel {
  std::optional<ModelSpec> spec;
  Model model;
};

/// Saves a model with the TOML of its experiment.
void save_model(const std::filesystem::path& path, const std::string& experiment_toml,
                TensorFile model);

/// Reads a model or a checkpoint.
LoadedModel load_model(const std::filesystem::path& path);

/// The metadata of a model file that holds the TOML of its experiment.
inline constexpr const char* experiment_metadata_key = "experiment";

}  // namespace boolgrad
