// The capabilities of each backend, as data. Error messages, `boolgrad devices` and the
// documentation are generated from this table.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>

#include "boolgrad/options/device.h"

namespace boolgrad {

/// A feature that an experiment may require of a device.
enum class Feature : std::uint8_t {
  // Precision.
  float32,
  float64,
  // Gates.
  softmax16,
  sigmoid,
  walsh,
  arity_2,
  other_arities,
  masks,
  gradient_factor,
  network_gate_penalty,
  learned_wires,
  convolutions,
  // Losses and heads.
  element_losses,
  head_classes,
  head_binary,
  head_bits,
  head_regression,
  head_weights,
  adapted_temperature,
  label_smoothing,
  distillation,
  // Inputs.
  thresholds,
  learned_thresholds,
  image_shifts,
  image_transforms,
  // Hardening.
  harden_blend,
  harden_gates,
  harden_states,
  harden_straight_through,
  harden_temperature,
  harden_noise,
  harden_freeze,
  // Optimiser.
  clip_value,
  clip_norm,
  gradient_noise,
  // Automata.
  automata,
  walsh_automata,
  asynchronous_cells,
  loss_steps,
  extra_steps,
  state_pool,
  gate_penalty,
  memory_policies,
  // Hardened models.
  hard_evaluation,
  hardened_grids,
};

inline constexpr std::size_t feature_count = 45;

/// The description of a feature, and the experiment key that requires it.
struct FeatureText {
  Feature feature;
  std::string_view name;
  std::string_view key;
};
/// The descriptions of all features, in the order of `Feature`.
const std::array<FeatureText, feature_count>& feature_texts();

/// A set of features.
using Capabilities = std::bitset<feature_count>;

/// The set of the given features.
template <class... Features>
constexpr Capabilities capabilities(Features... features) {
  unsigned long long bits = 0;
  ((bits |= 1ULL << static_cast<unsigned>(features)), ...);
  return Capabilities(bits);
}

/// Throws if `device` lacks a feature. The message names it and its key.
void check_supports(const Device& device, Feature feature);

/// The capabilities of the CPU: all features.
Capabilities cpu_capabilities();

/// The capabilities that a backend declares.
Capabilities capabilities_of(Backend backend);

/// Whether a backend supports a feature.
inline bool supports(Backend backend, Feature feature) {
  return capabilities_of(backend)[static_cast<std::size_t>(feature)];
}

/// The table of features and backends in Markdown, as in docs/gpu.md.
std::string capability_table();

}  // namespace boolgrad
