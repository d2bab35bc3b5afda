#include "boolgrad/train/learners/block_sum.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/parallel.h"

namespace boolgrad::train {
namespace {

constexpr std::size_t grain = 1 << 16;

/// Calls `act(begin, end)` for parts of [0, count), in parallel.
template <class Act>
void for_parts(std::size_t count, const Act& act) {
  parallel_for(task_count(count, grain),
               [&](std::size_t task) { act(task * grain, std::min(count, (task + 1) * grain)); });
}

/// Calls `act` with a zero of the dtype of a tensor of parameters.
template <class Act>
void for_dtype(const Tensor& tensor, const Act& act) {
  if (tensor.dtype() == DType::float64) act(double{});
  else act(float{});
}

void add_to(Tensor& sum, const Tensor& other) {
  for_dtype(sum, [&](auto zero) {
    using T = decltype(zero);
    const std::span<T> to = sum.mutable_values<T>();
    const std::span<const T> from = other.values<T>();
    for_parts(to.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) to[i] += from[i];
    });
  });
}

void scale_by(Tensor& tensor, double factor) {
  for_dtype(tensor, [&](auto zero) {
    using T = decltype(zero);
    const std::span<T> values = tensor.mutable_values<T>();
    for_parts(values.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) values[i] *= static_cast<T>(factor);
    });
  });
}

}  // namespace

Blocks::Blocks(Group& group, std::int64_t blocks, std::int64_t batch)
    : group_(group), count_(blocks), samples_(batch / blocks) {
  if (batch % blocks != 0) {
    fail("train", "expected a batch that training.blocks = {} divides, received {}", blocks, batch);
  }
  if (blocks % group.size() != 0) {
    fail("train", "expected training.blocks to be a multiple of the {} ranks, received {}",
         group.size(), blocks);
  }
}

void BlockSum::add(double loss, std::vector<Tensor> gradients) {
  Part next{0, loss, std::move(gradients)};
  while (!parts_.empty() && parts_.back().level == next.level) {
    Part& left = parts_.back();
    left.loss += next.loss;
    for (std::size_t i = 0; i < left.gradients.size(); ++i) {
      if (left.gradients[i].defined()) add_to(left.gradients[i], next.gradients[i]);
    }
    ++left.level;
    next = std::move(left);
    parts_.pop_back();
  }
  parts_.push_back(std::move(next));
}

std::pair<double, std::vector<Tensor>> BlockSum::total(double factor) {
  Part own = std::move(parts_.back());
  parts_.clear();
  sum_over_ranks(blocks_.group(), std::span(&own.loss, 1));
  for (Tensor& gradient : own.gradients) {
    if (!gradient.defined()) continue;
    for_dtype(gradient, [&](auto zero) {
      sum_over_ranks(blocks_.group(), gradient.mutable_values<decltype(zero)>());
    });
    if (factor != 1) scale_by(gradient, factor);
  }
  return {own.loss * factor, std::move(own.gradients)};
}

}  // namespace boolgrad::train
