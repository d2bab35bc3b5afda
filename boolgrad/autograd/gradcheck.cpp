#include "boolgrad/autograd/gradcheck.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/random.h"

namespace boolgrad {
namespace {

constexpr std::uint64_t weight_seed = 20;

// Weights in [0.5, 1.5): no element can cancel another or be lost.
Tensor weights_like(const Tensor& output) {
  Tensor weights(output.shape(), DType::float64);
  std::uint64_t index = 0;
  for (double& weight : weights.mutable_values<double>()) {
    weight = 0.5 + random_uniform({.seed = weight_seed, .index = index++});
  }
  return weights;
}

double weighted_sum(const Tensor& output, const Tensor& weights) {
  double total = 0;
  for (std::int64_t i = 0; i < output.size(); ++i) total += output.at(i) * weights.at(i);
  return total;
}

}  // namespace

std::string GradcheckResult::describe() const {
  return fmt::format("input {}, element {}: tape {}, difference {} (error {:.3g})", input, element,
                     from_tape, from_difference, error);
}

GradcheckResult gradcheck(const std::function<Tensor(std::span<const Tensor>)>& function,
                          std::span<const Tensor> inputs, const GradcheckOptions& options) {
  std::vector<Tensor> leaves;
  std::vector<Tensor> moved;
  std::vector<std::size_t> differentiable;
  for (const Tensor& input : inputs) {
    if (is_floating(input.dtype())) {
      if (input.dtype() != DType::float64) {
        fail("gradcheck", "expected float64 inputs, received {}", to_string(input.dtype()));
      }
      differentiable.push_back(leaves.size());
      leaves.push_back(parameter(input.clone()));
      moved.push_back(input.clone());
    } else {
      leaves.push_back(input);
      moved.push_back(input);
    }
  }
  const Tensor output = function(leaves);
  const Tensor weights = weights_like(output);
  std::vector<Tensor> parameters;
  for (const std::size_t input : differentiable) parameters.push_back(leaves[input]);
  const std::vector<Tensor> gradients = grad(output, parameters, {.upstream = weights});

  GradcheckResult worst{.pass = true};
  for (std::size_t d = 0; d < differentiable.size(); ++d) {
    const std::size_t input = differentiable[d];
    const std::span<double> values = moved[input].mutable_values<double>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double at = values[i];
      values[i] = at + options.step;
      const double above = weighted_sum(function(moved), weights);
      values[i] = at - options.step;
      const double below = weighted_sum(function(moved), weights);
      values[i] = at;
      const double from_difference = (above - below) / (2 * options.step);
      const double from_tape = gradients[d].at(static_cast<std::int64_t>(i));
      const double size = std::max({1.0, std::abs(from_tape), std::abs(from_difference)});
      double error = std::abs(from_tape - from_difference) / size;
      if (!(error <= std::numeric_limits<double>::max())) {
        error = std::numeric_limits<double>::infinity();  // NaN must fail
      }
      if (error > worst.error || (i == 0 && input == differentiable.front())) {
        worst = {worst.pass, input,           static_cast<std::int64_t>(i),
                 from_tape,  from_difference, error};
      }
      worst.pass = worst.pass && error <= options.tolerance;
    }
  }
  return worst;
}

}  // namespace boolgrad
