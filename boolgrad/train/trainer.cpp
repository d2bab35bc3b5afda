#include "boolgrad/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "boolgrad/core/error.h"
#include "boolgrad/optim/schedule.h"

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

Trainer::Trainer(const Experiment& experiment, const std::string& device)
    : experiment_(experiment),
      learner_(make_learner(experiment)),
      engine_(make_engine(device, experiment_, *learner_)) {}

const Learner& Trainer::learner() const {
  engine_->settle();
  return *learner_;
}

void Trainer::take_knockout() {
  const AdamWState moments = engine_->moments();
  engine_->settle();
  learner_->knock_out();
  engine_->restore(moments);
}

double Trainer::learning_rate() const {
  return schedule_of(experiment_.training).at(std::max<std::int64_t>(0, steps() - 1));
}

StepResult Trainer::step() {
  if (knockout_due()) take_knockout();
  const double rate = schedule_of(experiment_.training).at(steps()) * learner_->rate_factor();
  const StepResult result = engine_->step(steps(), rate);
  if (!result.finite) return result;
  ++steps_;
  learner_->observe(result.loss);
  return result;
}

TensorFile Trainer::state() const {
  TensorFile file = learner().to_file();
  // Parameters are written in place; a state must stay what it is.
  for (auto& [name, tensor] : file.tensors) tensor = tensor.clone();
  const AdamWState moments = engine_->moments();
  for (std::size_t i = 0; i < moments.first.size(); ++i) {
    file.tensors[moment_name(i, "first")] = moments.first[i];
    file.tensors[moment_name(i, "second")] = moments.second[i];
  }
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
  engine_->restore(moments);
  steps_ = moments.step;
}

}  // namespace boolgrad
