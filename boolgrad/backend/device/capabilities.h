// What each backend can do, as data: refusals, `boolgrad devices` and the documentation come from
// this table.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>

#include "boolgrad/backend/device/device.h"

namespace boolgrad {

/// What training or evaluation may ask of a device.
enum class Feature : std::uint8_t {
  // Numbers.
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
  // Losses and heads.
  element_losses,
  head_classes,
  head_binary,
  head_regression,
  label_smoothing,
  // Inputs.
  thresholds,
  learned_thresholds,
  image_shifts,
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

inline constexpr std::size_t feature_count = 37;

/// A feature in words: what it is, and the key of an experiment that asks for it.
struct FeatureText {
  Feature feature;
  std::string_view name;
  std::string_view key;
};
const std::array<FeatureText, feature_count>& feature_texts();

using Capabilities = std::bitset<feature_count>;

/// A set of features.
template <class... Features>
constexpr Capabilities capabilities(Features... features) {
  unsigned long long bits = 0;
  ((bits |= 1ULL << static_cast<unsigned>(features)), ...);
  return Capabilities(bits);
}

/// What the CPU does: everything.
Capabilities cpu_capabilities();

/// What a backend supports, as the backend says.
Capabilities capabilities_of(Backend backend);

inline bool supports(Backend backend, Feature feature) {
  return capabilities_of(backend)[static_cast<std::size_t>(feature)];
}

/// The table of features and backends in Markdown, as docs/gpu.md shows it.
std::string capability_table();

}  // namespace boolgrad
