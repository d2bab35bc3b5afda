// Hardening while training: tables move from soft to hard as fast as the loss allows.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "boolgrad/automata/rollout.h"
#include "boolgrad/backend/options/hardening.h"
#include "boolgrad/logic/parametrisation.h"
#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

std::string_view to_string(HardeningKind kind);

struct HardeningOptions {
  HardeningKind kind = HardeningKind::none;
  double threshold = 0.01;   ///< mean loss an output bit below which hardening goes on
  std::int64_t steps = 250;  ///< from all soft to all hard when nothing holds it up
  double rate_share = 0.2;  ///< learning rate when all is hard, as a share of that when all is soft
  double temperature = 0.1;  ///< of `temperature` when all is hard
  double noise = 1;          ///< of `noise`: how much of it when all is hard
  /// Whether the model that a run ends with, once solved, has soft tables that are its hard ones.
  bool seal = false;
};

/// A closed loop: progress rises by 1 / steps while a running mean of the loss stays below the
/// threshold and falls by half of that while it does not.
class Hardening {
 public:
  explicit Hardening(const HardeningOptions& options) : options_(options) {}

  /// How hard tables are now, 0 to 1.
  double share() const;

  /// Whether tables are those of other logits than the model's own.
  bool changes_logits() const;

  /// The logits whose tables a step reads. What is drawn is drawn at (seed, step).
  std::vector<Tensor> logits(const std::vector<Tensor>& own, Parametrisation parametrisation,
                             std::uint64_t seed, std::uint32_t step) const;

  /// What to multiply the learning rate by.
  double rate_factor() const;

  /// Takes note of the loss an output bit of a step.
  void observe(double loss);

  /// Soft tables made as hard as `share` says; gradients pass as if they were soft, but for frozen
  /// gates, which get none. What is drawn is drawn at (seed, step).
  std::vector<Tensor> applied(const std::vector<Tensor>& soft, const std::vector<Tensor>& hard,
                              std::uint64_t seed, std::uint32_t step) const;

  /// Whose state is rounded after which step, as a rollout takes it: nobody's after the last, whose
  /// values the loss reads. Undefined where states are not rounded. Drawn at (seed, step).
  Tensor rounding(const RolloutSize& size, std::uint64_t seed, std::uint32_t step) const;

  /// Where the loop stands, as metadata of a checkpoint.
  void save(TensorFile& file) const;
  void load(const TensorFile& file);

 private:
  HardeningOptions options_;
  double progress_ = 0;
  double mean_loss_ = -1;  ///< below 0: none seen
};

}  // namespace boolgrad
