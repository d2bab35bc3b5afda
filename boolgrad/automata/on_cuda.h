// Rules on an NVIDIA GPU.
#pragma once

#include <memory>
#include <optional>

#include "boolgrad/automata/rollout.h"
#include "boolgrad/automata/rule.h"
#include "boolgrad/backend/cuda/automaton.h"

namespace boolgrad {

/// What training on the device is to do beside the rollout.
struct OnCudaOptions {
  std::int64_t loss_channels = 1;
  cuda::LossForm loss = cuda::LossForm::squares;
  double focal_gamma = 2;
  /// What is kept for the backward; nothing stands for the quickest that fits.
  std::optional<Memory> memory = {};
  cuda::OptimiserOptions optimiser = {};
};

/// The rule as it is now, its logits and masks included, with room for rollouts of `size`. Refuses
/// rules that are not in float32.
std::unique_ptr<cuda::Automaton> on_cuda(const Rule& rule, const RolloutSize& size,
                                         const OnCudaOptions& options);

/// Sends the rule's logits and masks.
void send(const Rule& rule, cuda::Automaton& device);

}  // namespace boolgrad
