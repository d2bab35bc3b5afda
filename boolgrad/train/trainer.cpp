#include "boolgrad/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/error.h"
#include "boolgrad/optim/gradients.h"

namespace boolgrad {
namespace {

constexpr const char* step_key = "step";

std::string moment_name(std::size_t layer, const char* which) {
  return fmt::format("adamw.{}.{}", which, layer);
}

Schedule schedule_of(const TrainingOptions& training) {
  return {.kind = training.schedule,
          .rate = training.learning_rate,
          .warm_up = training.warm_up,
          .steps = training.steps,
          .final_share = training.final_share};
}

AdamWOptions adamw_options(const TrainingOptions& training) {
  return {.beta1 = training.beta1,
          .beta2 = training.beta2,
          .epsilon = training.epsilon,
          .weight_decay = training.weight_decay};
}

/// Gradients on their way to the optimiser.
std::vector<Tensor> prepared(std::vector<Tensor> gradients, const Experiment& experiment,
                             std::int64_t step) {
  const TrainingOptions& training = experiment.training;
  if (training.clip_value > 0) gradients = clip_by_value(gradients, training.clip_value);
  if (training.clip_norm > 0) gradients = clip_by_norm(gradients, training.clip_norm);
  return with_noise(gradients, training.gradient_noise, static_cast<std::uint64_t>(experiment.seed),
                    static_cast<std::uint32_t>(step));
}

/// Throws where `saved` is not a model of the very wires of `own`.
void check_same_architecture(const TensorFile& own, const TensorFile& saved,
                             const std::string& source) {
  for (const auto& [name, tensor] : own.tensors) {
    const auto found = saved.tensors.find(name);
    if (found == saved.tensors.end()) {
      fail("resume",
           "{}: expected a network of the experiment's architecture, received one without {}",
           source, name);
    }
    const Tensor& other = found->second;
    if (other.dtype() != tensor.dtype() || other.shape() != tensor.shape()) {
      fail("resume", "{}: expected {} to be {} {}, received {} {}", source, name,
           to_string(tensor.dtype()), to_string(tensor.shape()), to_string(other.dtype()),
           to_string(other.shape()));
    }
    if (!name.ends_with(".wires")) continue;
    if (!std::ranges::equal(tensor.values<std::int32_t>(), other.values<std::int32_t>())) {
      fail("resume", "{}: expected the wires that the seed gives in {}, received others", source,
           name);
    }
  }
}

const Tensor& moment_of(const TensorFile& state, const std::string& name,
                        const std::string& source) {
  const auto found = state.tensors.find(name);
  if (found == state.tensors.end()) {
    fail("resume", "{}: expected a checkpoint with {}, received a file without", source, name);
  }
  return found->second;
}

std::int64_t step_of(const TensorFile& state, const std::string& source) {
  const auto found = state.metadata.find(step_key);
  const std::string text = found == state.metadata.end() ? "" : found->second;
  std::int64_t step = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
  if (error != std::errc() || end != text.data() + text.size() || step < 0) {
    fail("resume", "{}: expected the number of steps taken, received '{}'", source, text);
  }
  return step;
}

}  // namespace

Trainer::Trainer(const Experiment& experiment)
    : experiment_(experiment),
      learner_(make_learner(experiment)),
      optimiser_(learner_->parameters(), adamw_options(experiment.training)) {}

void Trainer::take_knockout() { learner_->knock_out(); }

double Trainer::learning_rate() const {
  return schedule_of(experiment_.training).at(std::max<std::int64_t>(0, steps() - 1));
}

StepResult Trainer::step() {
  if (knockout_due()) take_knockout();
  const double rate = schedule_of(experiment_.training).at(steps()) * learner_->rate_factor();
  const Tensor loss = learner_->loss(steps());
  StepResult result{.loss = loss.item()};
  const std::vector<Tensor> gradients = grad(loss, learner_->parameters());
  result.finite = std::isfinite(result.loss) && all_finite(gradients);
  if (!result.finite) return result;
  optimiser_.step(prepared(gradients, experiment_, steps()), rate);
  learner_->observe(result.loss);
  return result;
}

TensorFile Trainer::state() const {
  TensorFile file = learner_->to_file();
  const AdamWState& moments = optimiser_.state();
  for (std::size_t i = 0; i < moments.first.size(); ++i) {
    file.tensors[moment_name(i, "first")] = moments.first[i];
    file.tensors[moment_name(i, "second")] = moments.second[i];
  }
  // The optimiser writes in place; a state must stay what it is.
  for (auto& [name, tensor] : file.tensors) tensor = tensor.clone();
  file.metadata[step_key] = fmt::format("{}", steps());
  learner_->save_progress(file);
  return file;
}

void Trainer::restore(const TensorFile& state, const std::string& source) {
  check_same_architecture(learner_->to_file(), state, source);
  AdamWState moments{.step = step_of(state, source), .first = {}, .second = {}};
  for (std::size_t i = 0; i < learner_->parameters().size(); ++i) {
    moments.first.push_back(moment_of(state, moment_name(i, "first"), source));
    moments.second.push_back(moment_of(state, moment_name(i, "second"), source));
  }
  learner_->restore(state);
  learner_->load_progress(state);
  AdamW optimiser(learner_->parameters(), adamw_options(experiment_.training));
  optimiser.restore(moments);
  optimiser_ = std::move(optimiser);
}

}  // namespace boolgrad
