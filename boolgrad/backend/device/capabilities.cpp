#include "boolgrad/backend/device/capabilities.h"

#include <fmt/format.h>

#include <string>

#include "boolgrad/backend/cuda/runtime/device.h"
#include "boolgrad/backend/vulkan/runtime/device.h"

namespace boolgrad {

const std::array<FeatureText, feature_count>& feature_texts() {
  using F = Feature;
  static constexpr std::array<FeatureText, feature_count> texts = {{
      {F::float32, "single precision", "network.dtype = float32"},
      {F::float64, "double precision", "network.dtype = float64"},
      {F::softmax16, "softmax over sixteen gates", "network.parametrisation = softmax16"},
      {F::sigmoid, "one logit per table entry", "network.parametrisation = sigmoid"},
      {F::walsh, "Walsh coefficients", "network.parametrisation = walsh"},
      {F::arity_2, "gates of two inputs", "network.arity = 2"},
      {F::other_arities, "gates of 1 to 6 inputs", "network.arity"},
      {F::masks, "gate masks and knockouts", "knockout.pattern"},
      {F::gradient_factor, "scaled gradients between layers", "network.gradient_factor"},
      {F::element_losses, "losses of single outputs", "training.loss"},
      {F::head_classes, "classes from group sums", "head.kind = classes"},
      {F::head_binary, "two classes from one sum", "head.kind = binary"},
      {F::head_regression, "values from one sum", "head.kind = regression"},
      {F::label_smoothing, "label smoothing", "training.label_smoothing"},
      {F::thresholds, "thresholds of features", "binarise.kind"},
      {F::learned_thresholds, "learned thresholds", "binarise.learn"},
      {F::image_shifts, "random shifts of images", "training.shift"},
      {F::harden_blend, "tables blended with hard ones", "hardening.kind = blend"},
      {F::harden_gates, "gates hardened at random", "hardening.kind = gates"},
      {F::harden_states, "states rounded at random", "hardening.kind = states"},
      {F::harden_straight_through, "hard tables, soft gradients",
       "hardening.kind = straight_through"},
      {F::harden_temperature, "annealed temperature", "hardening.kind = temperature"},
      {F::harden_noise, "Gumbel noise", "hardening.kind = noise"},
      {F::harden_freeze, "certain gates frozen", "hardening.kind = freeze"},
      {F::clip_value, "gradients clipped by value", "training.clip_value"},
      {F::clip_norm, "gradients clipped by norm", "training.clip_norm"},
      {F::gradient_noise, "gradient noise", "training.gradient_noise"},
      {F::automata, "automata", "task.kind"},
      {F::walsh_automata, "automata of Walsh coefficients", "network.parametrisation = walsh"},
      {F::asynchronous_cells, "cells that fire at random", "automaton.fire_rate"},
      {F::loss_steps, "loss over several states", "automaton.loss_steps"},
      {F::extra_steps, "rollouts of random length", "automaton.extra_steps"},
      {F::state_pool, "pool of states to start from", "automaton.pool"},
      {F::gate_penalty, "gate penalty", "training.gate_penalty"},
      {F::memory_policies, "three memory policies", "automaton.memory"},
      {F::hard_evaluation, "evaluation of hardened models", ""},
      {F::hardened_grids, "hardened automata on large grids", ""},
  }};
  return texts;
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
