// The best model of a run so far. Internal.
#pragma once

#include <optional>

#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/train/run/metrics.h"
#include "boolgrad/train/search/trainer.h"

namespace boolgrad::train {

/// What makes a model better, before the soft loss.
enum class BestKind : std::uint8_t { hard_accuracy, hard_loss };

/// The accuracy for classifiers and regression, the number of wrong bits for others.
inline BestKind best_kind(const Experiment& experiment) {
  return experiment.is_classifier() ? BestKind::hard_accuracy : BestKind::hard_loss;
}

/// Keeps the best model, with ties broken by the lowest soft loss.
class BestModel {
 public:
  explicit BestModel(BestKind kind) : kind_(kind) {}

  /// Keeps the leader's model if `entry`, its last log line, is the best so far.
  void consider(const LogEntry& entry, const Trainer& trainer);

  /// Log line of the best model; none before the first line.
  const std::optional<LogEntry>& entry() const { return entry_; }
  const TensorFile& model() const { return model_; }
  /// Number of log lines since the best one.
  std::int64_t lines_since() const { return lines_since_; }

  /// Replaces the model by what became of it after the run.
  void replace(const Evaluation& evaluation, TensorFile model);

  /// As part of a checkpoint, and back.
  void save(TensorFile& file) const;
  void load(const TensorFile& file);

 private:
  BestKind kind_;
  std::optional<LogEntry> entry_;
  TensorFile model_;
  std::int64_t lines_since_ = 0;
};

}  // namespace boolgrad::train
