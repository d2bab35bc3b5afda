// Hardening while training: tables move from soft to hard as fast as the loss allows.
#pragma once

#include <cstdint>

#include "boolgrad/backend/options/hardening.h"
#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad {

/// A closed loop: progress rises by 1 / steps while a running mean of the loss stays below the
/// threshold and falls by half of that while it does not.
class Hardening {
 public:
  explicit Hardening(const HardeningOptions& options) : options_(options) {}

  /// How hard tables are now, 0 to 1.
  double share() const;

  /// What happens to tables in a step. What is drawn is drawn at (seed, step).
  HardeningStep step(std::uint64_t seed, std::int64_t step) const;

  /// What to multiply the learning rate by.
  double rate_factor() const;

  /// Takes note of the loss per output bit of a step.
  void observe(double loss);

  /// Where the loop stands, as metadata of a checkpoint.
  void save(TensorFile& file) const;
  void load(const TensorFile& file);

 private:
  HardeningOptions options_;
  double progress_ = 0;
  double mean_loss_ = -1;  ///< below 0: none seen
};

}  // namespace boolgrad
