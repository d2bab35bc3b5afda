#include "boolgrad/train/learners/circuit_learner.h"

#include <utility>

#include "boolgrad/train/learners/problem.h"
#include "boolgrad/train/learners/training_outputs.h"

namespace boolgrad {
namespace {

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

}  // namespace

CircuitLearner::CircuitLearner(const Experiment& experiment)
    : CircuitLearner(experiment, make_task(experiment)) {}

CircuitLearner::CircuitLearner(const Experiment& experiment, const BooleanTask& task)
    : experiment_(experiment),
      network_(make_network(experiment, task)),
      cases_(task, experiment.network.dtype),
      order_(cases_.inputs.shape()[1], batch_size(), static_cast<std::uint64_t>(experiment.seed)),
      hardening_(experiment.hardening) {}

Tensor CircuitLearner::loss(std::int64_t step) {
  const Batch now = batch(step);
  const Tensor y = training_outputs(network_, now.inputs, hardening_, experiment_, step);
  return loss_of(experiment_.training, y, now.targets);
}

void CircuitLearner::observe(double loss) {
  hardening_.observe(loss / static_cast<double>(batch_size() * network_.outputs()));
}

double CircuitLearner::hard_loss() const { return wrong_bits(network_, cases_); }

std::vector<std::vector<bool>> CircuitLearner::active_gates() const {
  return boolgrad::active_gates(network_);
}

void CircuitLearner::knock_out() { boolgrad::knock_out(experiment_, network_); }

std::int64_t CircuitLearner::masked() const { return masked_count(network_); }

std::int64_t CircuitLearner::steps_per_epoch() const {
  const std::int64_t count = cases_.inputs.shape()[1];
  const std::int64_t size = experiment_.training.batch;
  return size == 0 ? 1 : (count + size - 1) / size;
}

std::int64_t CircuitLearner::batch_size() const {
  const std::int64_t count = cases_.inputs.shape()[1];
  const std::int64_t size = experiment_.training.batch;
  return size == 0 || size >= count ? count : size;
}

std::vector<std::int64_t> CircuitLearner::picked(std::int64_t step) {
  if (batch_size() == cases_.inputs.shape()[1]) return {};
  return order_.picked(step);
}

CircuitLearner::Batch CircuitLearner::batch(std::int64_t step) {
  const std::vector<std::int64_t> now = picked(step);
  if (now.empty()) return {cases_.inputs, cases_.targets};
  return {columns(cases_.inputs, now), columns(cases_.targets, now)};
}

}  // namespace boolgrad
