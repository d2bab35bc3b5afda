// A trained model: a network or a rule, and the parts that make a network a classifier.
// Independent of training.
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
  Model(logic::Network network, std::optional<Classifier> classifier = std::nullopt);
  explicit Model(automata::Rule rule);

  bool is_automaton() const { return std::holds_alternative<automata::Rule>(trained_); }
  /// Throw if the model is of the other kind.
  const logic::Network& network() const { return std::get<logic::Network>(trained_); }
  logic::Network& network() { return std::get<logic::Network>(trained_); }
  const automata::Rule& rule() const { return std::get<automata::Rule>(trained_); }

  /// Thresholds and head, if the network is a classifier.
  const std::optional<Classifier>& classifier() const { return classifier_; }
  std::optional<Classifier>& classifier() { return classifier_; }

  /// Trained parameters in a fixed order: the logits of all layers (for a rule, perception first),
  /// then the threshold offsets if thresholds were trained, then the exponents of trained weights.
  std::vector<Tensor> parameters() const;
  Parametrisation parametrisation() const;
  std::vector<Tensor> masks() const;

  /// The soft tables of these logits for all layers. Tables of masked gates are 0.
  std::vector<Tensor> tables(const std::vector<Tensor>& logits) const;

  /// Number of gates and inputs that are masked.
  std::int64_t masked_count() const;
  /// For every layer, the gates that the hardened outputs depend on.
  std::vector<std::vector<bool>> active_gates() const;
  Inspection inspect() const;

  /// Wires, logits, masks, thresholds and head. `restore` replaces them by those of another model
  /// of the same kind.
  TensorFile to_file() const;
  void restore(const TensorFile& file);
  static Model from_file(const TensorFile& file, const std::string& source);

 private:
  std::variant<logic::Network, automata::Rule> trained_;
  std::optional<Classifier> classifier_;
};

/// A model and its specification. A model that was not trained from an experiment has none.
struct LoadedModel {
  std::optional<ModelSpec> spec;
  Model model;
};

/// Saves a model with the TOML of its experiment.
void save_model(const std::filesystem::path& path, const std::string& experiment_toml,
                TensorFile model);

/// The files of a run's folder that hold a model.
inline constexpr const char* model_file = "model.safetensors";
inline constexpr const char* checkpoint_file = "checkpoint.safetensors";

/// The model in a run's folder, or its checkpoint if the run has not ended; other paths unchanged.
/// Throws for a folder without either.
std::filesystem::path model_path(const std::filesystem::path& path);

/// Reads a model or a checkpoint, given by its file or by the folder of its run.
LoadedModel load_model(const std::filesystem::path& path);

/// The model of a file that was read from `path`.
LoadedModel model_in(const TensorFile& file, const std::filesystem::path& path);

/// Metadata key of a model file under which the TOML of its experiment is stored.
inline constexpr const char* experiment_metadata_key = "experiment";

}  // namespace boolgrad
