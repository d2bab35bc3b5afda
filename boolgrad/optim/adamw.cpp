#include "boolgrad/optim/adamw.h"

#include <cmath>
#include <string_view>
#include <utility>

#include "boolgrad/backend/cpu/optimiser/adamw.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/optim/gradients.h"

namespace boolgrad {
namespace {

void check_options(const AdamWOptions& options) {
  const auto check_share = [](std::string_view name, double value) {
    if (!(value >= 0 && value < 1)) {
      fail("adamw", "expected {} of at least 0 and below 1, received {}", name, value);
    }
  };
  check_share("beta1", options.beta1);
  check_share("beta2", options.beta2);
  if (!(options.epsilon > 0 && std::isfinite(options.epsilon))) {
    fail("adamw", "expected a positive epsilon, received {}", options.epsilon);
  }
  if (!(options.weight_decay >= 0 && std::isfinite(options.weight_decay))) {
    fail("adamw", "expected a weight decay of at least 0, received {}", options.weight_decay);
  }
}

void check_like(const Tensor& parameter, std::size_t index, std::string_view what,
                const Tensor& received) {
  if (received.dtype() != parameter.dtype() || received.shape() != parameter.shape()) {
    fail("adamw", "expected {} {} to be {} {}, received {} {}", what, index,
         to_string(parameter.dtype()), to_string(parameter.shape()), to_string(received.dtype()),
         to_string(received.shape()));
  }
}

}  // namespace

AdamW::AdamW(std::vector<Tensor> parameters, const AdamWOptions& options)
    : parameters_(std::move(parameters)), options_(options) {
  check_options(options);
  for (const Tensor& parameter : parameters_) {
    if (parameter.dtype() != DType::float32 && parameter.dtype() != DType::float64) {
      fail("adamw", "expected parameters of float32 or float64, received {}",
           to_string(parameter.dtype()));
    }
    state_.first.push_back(Tensor::zeros(parameter.shape(), parameter.dtype()));
    state_.second.push_back(Tensor::zeros(parameter.shape(), parameter.dtype()));
  }
}

std::vector<Tensor> AdamW::prepared(std::vector<Tensor> gradients) const {
  if (options_.clip_value > 0) gradients = clip_by_value(gradients, options_.clip_value);
  if (options_.clip_norm > 0) gradients = clip_by_norm(gradients, options_.clip_norm);
  return with_noise(gradients, options_.gradient_noise, options_.seed,
                    static_cast<std::uint32_t>(state_.step));
}

void AdamW::step(const std::vector<Tensor>& gradients, double learning_rate) {
  if (!(learning_rate >= 0 && std::isfinite(learning_rate))) {
    fail("adamw", "expected a learning rate of at least 0, received {}", learning_rate);
  }
  if (gradients.size() != parameters_.size()) {
    fail("adamw", "expected {} gradients, received {}", parameters_.size(), gradients.size());
  }
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].defined()) check_like(parameters_[i], i, "gradient", gradients[i]);
  }
  const std::vector<Tensor> ready = prepared(gradients);
  const auto factors = adamw_factors<double>(options_, state_.step, learning_rate);
  ++state_.step;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Tensor& parameter = parameters_[i];
    const Tensor& gradient =
        ready[i].defined() ? ready[i] : Tensor::zeros(parameter.shape(), parameter.dtype());
    cpu::adamw(factors, parameter, state_.first[i], state_.second[i], gradient);
  }
}

void AdamW::restore(const AdamWState& state) {
  const std::size_t count = parameters_.size();
  if (state.first.size() != count || state.second.size() != count) {
    fail("adamw", "expected moments of {} parameters, received {} and {}", count,
         state.first.size(), state.second.size());
  }
  if (state.step < 0) fail("adamw", "expected a step of at least 0, received {}", state.step);
  for (std::size_t i = 0; i < count; ++i) {
    check_like(parameters_[i], i, "first moment", state.first[i]);
    check_like(parameters_[i], i, "second moment", state.second[i]);
  }
  // Deep copies: this optimiser updates the moments in place, and the caller may still use `state`.
  state_.step = state.step;
  for (std::size_t i = 0; i < count; ++i) {
    state_.first[i] = state.first[i].clone();
    state_.second[i] = state.second[i].clone();
  }
}

}  // namespace boolgrad
