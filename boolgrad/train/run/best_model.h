// The best model of a run so far. Internal.
#pragma once

#include <optional>

#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/train/run/metrics.h"
#include "boolgrad/train/search/trainer.h"

namespace boolgrad {

/// Keeps the model with the highest hard accuracy, of equal ones with the lowest soft loss.
class BestModel {
 public:
  /// Looks at a line that was logged, of the leader as it is.
  void consider(const LogEntry& entry, const Trainer& trainer);

  /// The line of the best; none before the first.
  const std::optional<LogEntry>& entry() const { return entry_; }
  const TensorFile& model() const { return model_; }
  /// Lines since then.
  std::int64_t lines_since() const { return lines_since_; }

  /// As part of a checkpoint, so that a resumed run knows what one that never stopped knows.
  void save(TensorFile& file) const;
  void load(const TensorFile& file);

 private:
  std::optional<LogEntry> entry_;
  TensorFile model_;
  std::int64_t lines_since_ = 0;
};

}  // namespace boolgrad
