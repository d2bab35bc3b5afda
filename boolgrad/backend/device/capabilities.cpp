#include "boolgrad/backend/device/capabilities.h"

#include <fmt/format.h>

#include <string>

#include "boolgrad/backend/cuda/runtime/device.h"
#include "boolgrad/backend/vulkan/runtime/device.h"
#include "boolgrad/core/fail.h"

namespace boolgrad {

const std::array<FeatureText, feature_count>& feature_texts() {
  using F = Feature;
  static constexpr std::array<FeatureText, feature_count> texts = {{
      {F::float32, "single precision", "network.dtype = float32"},
      {F::float64, "double precision", "network.dtype = float64"},
      {F::softmax16, "softmax over the 16 two-input gates", "network.parametrisation = softmax16"},
      {F::sigmoid, "sigmoid of one logit per table entry", "network.parametrisation = sigmoid"},
      {F::walsh, "Walsh coefficients", "network.parametrisation = walsh"},
      {F::arity_2, "two-input gates", "network.arity = 2"},
      {F::other_arities, "look-up tables with 1 to 6 inputs", "network.arity"},
      {F::masks, "gate masks and knockouts", "knockout.pattern"},
      {F::gradient_factor, "gradient scaling between layers", "network.gradient_factor"},
      {F::network_gate_penalty, "gate penalty of networks", "training.gate_penalty"},
      {F::learned_wires, "learned wires", "network.candidates"},
      {F::convolutions, "convolutions", "convolution.kernels"},
      {F::element_losses, "elementwise losses", "training.loss"},
      {F::head_classes, "classification head", "head.kind = classes"},
      {F::head_binary, "binary classification head", "head.kind = binary"},
      {F::head_bits, "head of class bits", "head.kind = bits"},
      {F::head_regression, "regression head", "head.kind = regression"},
      {F::head_weights, "learned weights of outputs", "head.weights = powers"},
      {F::adapted_temperature, "adapted temperature of the head", "head.temperature_target"},
      {F::label_smoothing, "label smoothing", "training.label_smoothing"},
      {F::distillation, "distillation from a teacher", "training.teacher"},
      {F::thresholds, "thresholds on features", "binarise.kind"},
      {F::learned_thresholds, "learned thresholds", "binarise.learn"},
      {F::image_shifts, "random image shifts", "training.max_shift"},
      {F::image_transforms, "random image rotations, scales, flips and cut-outs",
       "training.max_rotation"},
      {F::harden_blend, "blending of soft and hard tables", "hardening.kind = blend"},
      {F::harden_gates, "random hardening of gates", "hardening.kind = gates"},
      {F::harden_states, "random rounding of states", "hardening.kind = states"},
      {F::harden_straight_through, "straight-through estimator",
       "hardening.kind = straight_through"},
      {F::harden_temperature, "temperature annealing", "hardening.kind = temperature"},
      {F::harden_noise, "Gumbel noise", "hardening.kind = noise"},
      {F::harden_freeze, "progressive freezing of gates", "hardening.kind = freeze"},
      {F::clip_value, "gradient clipping by value", "training.clip_value"},
      {F::clip_norm, "gradient clipping by norm", "training.clip_norm"},
      {F::gradient_noise, "gradient noise", "training.gradient_noise"},
      {F::automata, "cellular automata", "task.kind"},
      {F::walsh_automata, "cellular automata with Walsh coefficients",
       "network.parametrisation = walsh"},
      {F::asynchronous_cells, "asynchronous cell updates", "automaton.fire_rate"},
      {F::loss_steps, "loss over several final states", "automaton.loss_steps"},
      {F::extra_steps, "random rollout lengths", "automaton.extra_steps"},
      {F::state_pool, "pool of initial states", "automaton.pool"},
      {F::gate_penalty, "gate penalty of automata", "training.gate_penalty"},
      {F::memory_policies, "memory policies (gradient checkpointing)", "automaton.memory"},
      {F::hard_evaluation, "evaluation of hardened models", ""},
      {F::hardened_grids, "simulation of hardened automata", ""},
  }};
  return texts;
}

void check_supports(const Device& device, Feature feature) {
  if (supports(device.backend, feature)) return;
  const FeatureText& text = feature_texts()[static_cast<std::size_t>(feature)];
  fail("device", "{} does not support {} ({}): train on the cpu, or see `boolgrad devices`",
       to_string(device), text.name, text.key);
}

Capabilities cpu_capabilities() { return Capabilities().set(); }

Capabilities capabilities_of(Backend backend) {
  switch (backend) {
    case Backend::cpu: return cpu_capabilities();
    case Backend::cuda: return cuda::capabilities();
    case Backend::vulkan: return vulkan::capabilities();
  }
  return {};
}

std::string capability_table() {
  std::string table = "| feature | key | CPU | CUDA | Vulkan |\n|---|---|---|---|---|\n";
  for (const FeatureText& text : feature_texts()) {
    table += fmt::format("| {} | {} |", text.name,
                         text.key.empty() ? "" : fmt::format("`{}`", text.key));
    for (const Backend backend : {Backend::cpu, Backend::cuda, Backend::vulkan}) {
      table += supports(backend, text.feature) ? " yes |" : " no |";
    }
    table += "\n";
  }
  return table;
}

}  // namespace boolgrad
