#include "boolgrad/train/circuit_learner.h"

#include <numeric>
#include <utility>

#include "boolgrad/core/random.h"
#include "boolgrad/train/problem.h"
#include "boolgrad/train/streams.h"

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
      cases_(task, experiment.network.dtype) {}

Tensor CircuitLearner::loss(std::int64_t step) {
  const Batch now = batch(step);
  return loss_of(experiment_.training, network_.soft(now.inputs), now.targets);
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

// Position p of the run is place p mod cases in the order of epoch p / cases.
std::vector<std::int64_t> CircuitLearner::picked(std::int64_t step) {
  const std::int64_t count = cases_.inputs.shape()[1];
  const std::int64_t size = batch_size();
  if (size == count) return {};
  std::vector<std::int64_t> picked;
  for (std::int64_t p = step * size; p < (step + 1) * size; ++p) {
    if (p / count != epoch_) {
      epoch_ = p / count;
      order_ = epoch_order(count, epoch_, static_cast<std::uint64_t>(experiment_.seed));
    }
    picked.push_back(order_[static_cast<std::size_t>(p % count)]);
  }
  return picked;
}

CircuitLearner::Batch CircuitLearner::batch(std::int64_t step) {
  const std::vector<std::int64_t> now = picked(step);
  if (now.empty()) return {cases_.inputs, cases_.targets};
  return {columns(cases_.inputs, now), columns(cases_.targets, now)};
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

}  // namespace boolgrad
