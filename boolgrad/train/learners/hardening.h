// Hardening during training: tables move from soft to hard as fast as the loss allows.
#pragma once

#include <cstdint>

#include "boolgrad/options/hardening.h"
#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad::train {

/// A feedback loop. Progress increases by 1 / steps per update while the running mean of the loss
/// is below the threshold, and decreases by half of that otherwise.
class Hardening {
 public:
  explicit Hardening(const HardeningOptions& options) : options_(options) {}

  /// Present hardness of tables, 0 to 1.
  double share() const;

  /// What a step does to tables. Random numbers are sampled at (seed, step).
  HardeningStep step(std::uint64_t seed, std::int64_t step) const;

  /// Factor of the learning rate.
  double rate_factor() const;

  /// Records the loss per output bit of a step.
  void observe(double loss);

  /// The state of the loop, as metadata of a checkpoint.
  void save(TensorFile& file) const;
  void load(const TensorFile& file);

 private:
  HardeningOptions options_;
  double progress_ = 0;
  double mean_loss_ = -1;  ///< -1 before the first step
};

}  // namespace boolgrad::train
