#include "boolgrad/train/experiment/requirements.h"

#include <algorithm>

#include "boolgrad/core/fail.h"

namespace boolgrad::train {
namespace {

class Requirements {
 public:
  void add(Feature feature, bool is_needed = true) {
    if (is_needed) features_.push_back(feature);
  }
  std::vector<Feature> sorted() && {
    std::ranges::sort(features_);
    return std::move(features_);
  }

 private:
  std::vector<Feature> features_;
};

void add_gates(const Experiment& e, Requirements& needs) {
  const NetworkOptions& network = e.network;
  needs.add(network.dtype == DType::float64 ? Feature::float64 : Feature::float32);
  switch (network.parametrisation) {
    case Parametrisation::softmax16: needs.add(Feature::softmax16); break;
    case Parametrisation::sigmoid: needs.add(Feature::sigmoid); break;
    case Parametrisation::walsh:
      needs.add(e.is_automaton() ? Feature::walsh_automata : Feature::walsh);
      break;
  }
  if (e.is_automaton()) return needs.add(Feature::arity_2);
  for (const std::int64_t arity : network.arity) {
    needs.add(arity == 2 ? Feature::arity_2 : Feature::other_arities);
  }
  needs.add(Feature::masks, e.knockout.pattern != KnockoutPattern::none);
  needs.add(Feature::gradient_factor, network.gradient_factor != 1);
  needs.add(Feature::network_gate_penalty, !e.is_automaton() && e.training.gate_penalty > 0);
  needs.add(Feature::learned_wires, e.learns_wires());
  needs.add(Feature::convolutions, e.convolution.size() > 0);
}

void add_hardening(const Experiment& e, Requirements& needs) {
  switch (e.hardening.kind) {
    case HardeningKind::none: return;
    case HardeningKind::blend: return needs.add(Feature::harden_blend);
    case HardeningKind::gates: return needs.add(Feature::harden_gates);
    case HardeningKind::states: return needs.add(Feature::harden_states);
    case HardeningKind::straight_through: return needs.add(Feature::harden_straight_through);
    case HardeningKind::temperature: return needs.add(Feature::harden_temperature);
    case HardeningKind::noise: return needs.add(Feature::harden_noise);
    case HardeningKind::freeze: return needs.add(Feature::harden_freeze);
  }
}

void add_classifier(const Experiment& e, Requirements& needs) {
  switch (e.head.kind) {
    case HeadKind::classes: needs.add(Feature::head_classes); break;
    case HeadKind::binary: needs.add(Feature::head_binary); break;
    case HeadKind::bits: needs.add(Feature::head_bits); break;
    case HeadKind::regression: needs.add(Feature::head_regression); break;
  }
  needs.add(Feature::head_weights, e.head.weights == HeadWeights::powers);
  needs.add(Feature::adapted_temperature, e.adapts_temperature());
  needs.add(Feature::thresholds);
  needs.add(Feature::learned_thresholds, e.binarise.learn);
  needs.add(Feature::label_smoothing, e.training.label_smoothing > 0);
  needs.add(Feature::distillation, !e.training.teacher.path.empty());
  needs.add(Feature::image_shifts, e.training.augmentation.max_shift > 0);
  needs.add(Feature::image_transforms, e.training.augmentation.more_than_shifts());
}

void add_automaton(const Experiment& e, Requirements& needs) {
  const RolloutTraining& rollout = e.rollout;
  needs.add(Feature::automata);
  needs.add(Feature::asynchronous_cells, e.automaton.fire_rate < 1 || rollout.fire_rate > 0);
  needs.add(Feature::loss_steps, rollout.loss_steps > 1);
  needs.add(Feature::extra_steps, rollout.extra_steps > 0);
  needs.add(Feature::state_pool, rollout.pool > 0);
  needs.add(Feature::gate_penalty, e.training.gate_penalty > 0);
  needs.add(Feature::memory_policies, !rollout.memory.empty());
}

}  // namespace

std::vector<Feature> required_features(const Experiment& experiment) {
  Requirements needs;
  add_gates(experiment, needs);
  if (experiment.is_classifier()) add_classifier(experiment, needs);
  else needs.add(Feature::element_losses);
  if (experiment.is_automaton()) add_automaton(experiment, needs);
  add_hardening(experiment, needs);
  const AdamWOptions& optimiser = experiment.training.optimiser;
  needs.add(Feature::clip_value, optimiser.clip_value > 0);
  needs.add(Feature::clip_norm, optimiser.clip_norm > 0);
  needs.add(Feature::gradient_noise, optimiser.gradient_noise > 0);
  needs.add(Feature::hard_evaluation);
  return std::move(needs).sorted();
}

void check_supported(const Experiment& experiment, const Device& device) {
  for (const Feature feature : required_features(experiment)) {
    check_supports(device, feature);
  }
}

}  // namespace boolgrad::train
