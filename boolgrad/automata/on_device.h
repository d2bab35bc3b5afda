// Rules on a device.
#pragma once

#include <memory>
#include <optional>

#include "boolgrad/automata/rollout.h"
#include "boolgrad/automata/rule.h"
#include "boolgrad/backend/device/automaton.h"

namespace boolgrad {

/// What training on the device is to do beside the rollout.
struct OnDeviceOptions {
  std::int64_t loss_channels = 1;
  LossOptions loss = {};
  /// What is kept for the backward; nothing stands for the quickest that fits.
  std::optional<Memory> memory = {};
  AdamWOptions optimiser = {};
};

/// The rule as it is now, its logits and masks included, on `device` (`cuda`, say), with room for
/// rollouts of `size`. Refuses rules that are not in float32.
std::unique_ptr<DeviceAutomaton> on_device(const Device& device, const Rule& rule,
                                           const RolloutSize& size, const OnDeviceOptions& options);

/// Sends the rule's logits and masks.
void send(const Rule& rule, DeviceAutomaton& device);

}  // namespace boolgrad
