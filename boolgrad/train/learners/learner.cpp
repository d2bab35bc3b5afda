#include "boolgrad/train/learners/learner.h"

#include <algorithm>
#include <cmath>

#include "boolgrad/core/fail.h"
#include "boolgrad/logic/host_network.h"
#include "boolgrad/model/keys.h"
#include "boolgrad/train/experiment/requirements.h"
#include "boolgrad/train/learners/automaton_learner.h"
#include "boolgrad/train/learners/initial_model.h"
#include "boolgrad/train/learners/network_learner.h"

namespace boolgrad::train {
namespace {

/// Evaluates the whole model for every move.
class WholeModelEvaluator : public MoveEvaluator {
 public:
  explicit WholeModelEvaluator(const Learner& learner)
      : learner_(learner), accepted_(learner.hard_loss()), last_(accepted_) {}

  double errors() const override { return accepted_; }
  double errors_with(std::size_t /*layer*/, std::int64_t /*gate*/,
                     std::uint64_t /*table*/) override {
    last_ = learner_.hard_loss();
    return last_;
  }
  void accept() override { accepted_ = last_; }

 private:
  const Learner& learner_;
  double accepted_;
  double last_;
};

}  // namespace

std::unique_ptr<MoveEvaluator> Learner::move_evaluator() const {
  return std::make_unique<WholeModelEvaluator>(*this);
}

StepResult Learner::step(std::int64_t step, double learning_rate) {
  const StepResult result = take_step(step, learning_rate);
  if (!result.finite) return result;
  updates_ = step + 1;
  hardening_.observe(result.loss / loss_terms());
  return result;
}

AdamWState zero_moments(const std::vector<Tensor>& parameters, std::int64_t step) {
  AdamWState moments{.step = step, .first = {}, .second = {}};
  for (const Tensor& parameter : parameters) {
    moments.first.push_back(Tensor::zeros(parameter.shape(), parameter.dtype()));
    moments.second.push_back(Tensor::zeros(parameter.shape(), parameter.dtype()));
  }
  return moments;
}

AdamWState Learner::moments() const {
  return {
      .step = updates_, .first = program().first_moments(), .second = program().second_moments()};
}

void Learner::read_back() { logic::copy_values(program().parameters(), model_.parameters()); }

std::vector<double> Learner::gradient_norms(std::int64_t step) {
  enter(step);
  std::vector<double> norms;
  for (const Tensor& gradient : gradients(step)) {
    double sum = 0;
    for (std::int64_t i = 0; i < gradient.size(); ++i) sum += gradient.at(i) * gradient.at(i);
    norms.push_back(std::sqrt(sum));
  }
  return norms;
}

void Learner::knock_out() {
  if (!model_.is_automaton()) boolgrad::train::knock_out(experiment_, model_.network());
}

std::vector<Tensor> Learner::frozen_gates() const {
  const bool freezes = experiment_.hardening.kind == HardeningKind::freeze;
  if (!freezes || hardening_.share() == 0) return {};
  const std::vector<Tensor> layers = model_.masks();
  std::vector<Tensor> logits = program().parameters();
  logits.resize(layers.size());
  std::vector<Tensor> hard;
  const std::vector<Tensor> soft = model_.tables(logits);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    // Like its soft table, the hard table of a masked gate is 0.
    hard.push_back(logic::hard_tables(model_.parametrisation(), logits[i]));
    const std::size_t entries =
        static_cast<std::size_t>(hard[i].size()) / static_cast<std::size_t>(layers[i].size());
    for (std::size_t e = 0; e < static_cast<std::size_t>(hard[i].size()); ++e) {
      if (layers[i].at(static_cast<std::int64_t>(e / entries)) < 0.5) {
        hard[i].mutable_values<std::uint8_t>()[e] = 0;
      }
    }
  }
  return logic::most_certain_gates(soft, hard, hardening_.share());
}

AdamWOptions Learner::optimiser_options() const {
  AdamWOptions options = experiment_.training.optimiser;
  options.seed = seed();
  return options;
}

std::unique_ptr<Learner> make_learner(const Experiment& experiment, const Device& device,
                                      Group& group) {
  check_supported(experiment, device);
  if (experiment.is_automaton()) {
    return std::make_unique<AutomatonLearner>(experiment, device, group);
  }
  if (experiment.is_classifier()) return make_classifier_learner(experiment, device, group);
  return make_circuit_learner(experiment, device, group);
}

std::int64_t steps_per_epoch(const Experiment& experiment) {
  if (experiment.is_automaton()) return 1;
  const std::int64_t count = experiment.is_classifier()
                                 ? training_samples_of(experiment)->train.count()
                                 : make_task(experiment).cases();
  const std::int64_t batch = experiment.training.batch;
  return batch == 0 ? 1 : (count + std::min(batch, count) - 1) / std::min(batch, count);
}

std::int64_t steps_of_epochs(std::int64_t epochs, std::int64_t steps_per_epoch) {
  if (epochs > max_steps / steps_per_epoch) {
    fail("train", "expected at most {} epochs, of {} steps each, received {}",
         max_steps / steps_per_epoch, steps_per_epoch, epochs);
  }
  return epochs * steps_per_epoch;
}

Experiment with_epochs_in_steps(Experiment experiment) {
  if (!experiment.is_classifier()) return experiment;
  TrainingOptions& training = experiment.training;
  if (training.epochs == 0 && training.log_every > 0) return experiment;
  const std::int64_t epoch = steps_per_epoch(experiment);
  if (training.epochs > 0) training.steps = steps_of_epochs(training.epochs, epoch);
  training.epochs = 0;
  if (training.log_every == 0) training.log_every = epoch;
  return experiment;
}

}  // namespace boolgrad::train
