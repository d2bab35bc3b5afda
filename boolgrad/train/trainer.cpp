#include "boolgrad/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/error.h"
#include "boolgrad/core/random.h"
#include "boolgrad/optim/gradients.h"
#include "boolgrad/train/problem.h"

namespace boolgrad {
namespace {

// Beside the stream of the gradient noise, above those of wirings and initial values.
constexpr std::uint32_t batch_stream = 0x01000001;

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

/// Columns of a matrix, picked one by one.
Tensor columns(const Tensor& matrix, const std::vector<std::int64_t>& picked) {
  const std::int64_t rows = matrix.shape()[0];
  const auto width = static_cast<std::size_t>(matrix.shape()[1]);
  Tensor result({rows, static_cast<std::int64_t>(picked.size())}, matrix.dtype());
  visit_dtype(matrix.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto from = matrix.values<T>();
    auto to = result.mutable_values<T>().begin();
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
      for (const std::int64_t column : picked) {
        *to++ = from[row * width + static_cast<std::size_t>(column)];
      }
    }
  });
  return result;
}

/// Throws where `saved` is not a network of the very wires of `own`.
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

Trainer::Trainer(const Experiment& experiment, const BooleanTask& task)
    : experiment_(experiment),
      network_(make_network(experiment, task)),
      cases_(task, experiment.network.dtype),
      optimiser_(network_.parameters(), adamw_options(experiment.training)) {}

void Trainer::take_knockout() { knock_out(experiment_, network_); }

double Trainer::learning_rate() const {
  return schedule_of(experiment_.training).at(std::max<std::int64_t>(0, steps() - 1));
}

StepResult Trainer::step() {
  if (knockout_due()) take_knockout();
  const double rate = schedule_of(experiment_.training).at(steps());
  const Batch now = batch();
  const Tensor loss = loss_of(experiment_.training, network_.soft(now.inputs), now.targets);
  StepResult result{.loss = loss.item()};
  const std::vector<Tensor> gradients = grad(loss, network_.parameters());
  result.finite = std::isfinite(result.loss) && all_finite(gradients);
  if (result.finite) optimiser_.step(prepared(gradients, experiment_, steps()), rate);
  return result;
}

// Position p of the run is place p mod cases in the order of epoch p / cases.
Trainer::Batch Trainer::batch() {
  const std::int64_t count = cases_.inputs.shape()[1];
  const std::int64_t size = experiment_.training.batch;
  if (size == 0 || size >= count) return {cases_.inputs, cases_.targets};
  std::vector<std::int64_t> picked;
  for (std::int64_t p = steps() * size; p < (steps() + 1) * size; ++p) {
    if (p / count != epoch_) {
      epoch_ = p / count;
      order_ = epoch_order(count, epoch_, static_cast<std::uint64_t>(experiment_.seed));
    }
    picked.push_back(order_[static_cast<std::size_t>(p % count)]);
  }
  return {columns(cases_.inputs, picked), columns(cases_.targets, picked)};
}

TensorFile Trainer::state() const {
  TensorFile file = network_.to_file();
  const AdamWState& moments = optimiser_.state();
  for (std::size_t i = 0; i < moments.first.size(); ++i) {
    file.tensors[moment_name(i, "first")] = moments.first[i];
    file.tensors[moment_name(i, "second")] = moments.second[i];
  }
  // The optimiser writes in place; a state must stay what it is.
  for (auto& [name, tensor] : file.tensors) tensor = tensor.clone();
  file.metadata[step_key] = fmt::format("{}", steps());
  return file;
}

void Trainer::restore(const TensorFile& state, const std::string& source) {
  check_same_architecture(network_.to_file(), state, source);
  AdamWState moments{.step = step_of(state, source), .first = {}, .second = {}};
  for (std::size_t i = 0; i < network_.layers().size(); ++i) {
    moments.first.push_back(moment_of(state, moment_name(i, "first"), source));
    moments.second.push_back(moment_of(state, moment_name(i, "second"), source));
  }
  LogicNetwork network = LogicNetwork::from_file(state);
  AdamW optimiser(network.parameters(), adamw_options(experiment_.training));
  optimiser.restore(moments);
  network_ = std::move(network);
  optimiser_ = std::move(optimiser);
}

std::vector<std::int64_t> epoch_order(std::int64_t cases, std::int64_t epoch, std::uint64_t seed) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(cases));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    const std::uint64_t j = random_below({.seed = seed,
                                          .stream = batch_stream,
                                          .step = static_cast<std::uint32_t>(epoch),
                                          .index = i},
                                         i);
    std::swap(order[i - 1], order[j]);
  }
  return order;
}

std::int64_t steps_per_epoch(const Experiment& experiment, const BooleanTask& task) {
  const std::int64_t size = experiment.training.batch;
  return size == 0 ? 1 : (task.cases() + size - 1) / size;
}

}  // namespace boolgrad
