// The common part of the CPU programs: gradients from the tape, AdamW on the model's parameters.
#pragma once

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/optim/adamw.h"
#include "boolgrad/optim/gradients.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::logic {

/// A training program on the CPU. `Program` is `DeviceNetwork` or `DeviceAutomaton`.
template <class Program>
class HostProgram : public Program {
 public:
  std::vector<Tensor> parameters() const override {
    std::vector<Tensor> result;
    for (const Tensor& own : trained_) result.push_back(own.detach());
    return result;
  }
  void set_moments(std::span<const Tensor> first, std::span<const Tensor> second) override {
    optimiser_.restore({.step = optimiser_.state().step,
                        .first = {first.begin(), first.end()},
                        .second = {second.begin(), second.end()}});
  }
  std::vector<Tensor> first_moments() const override { return clones(optimiser_.state().first); }
  std::vector<Tensor> second_moments() const override { return clones(optimiser_.state().second); }
  std::vector<Tensor> parameter_gradients() const override { return gradients_; }

 protected:
  HostProgram(std::vector<Tensor> trained, const AdamWOptions& options)
      : trained_(std::move(trained)), optimiser_(trained_, options) {}

  const std::vector<Tensor>& trained() const { return trained_; }
  /// Replaces the trained tensors and resets the moments.
  void train(std::vector<Tensor> trained) {
    trained_ = std::move(trained);
    optimiser_ = AdamW(trained_, optimiser_.options());
  }

  /// Computes and stores the gradients of a loss, and returns its value.
  double differentiate(const Tensor& loss) {
    gradients_ = grad(loss, trained_);
    return loss.item();
  }

  /// Updates the parameters if the loss and all gradients are finite, and returns whether they are.
  bool update(double loss, std::int64_t step, double learning_rate) {
    if (!std::isfinite(loss) || !all_finite(gradients_)) return false;
    optimiser_.set_step(step);
    optimiser_.step(gradients_, learning_rate);
    return true;
  }

 private:
  static std::vector<Tensor> clones(const std::vector<Tensor>& tensors) {
    std::vector<Tensor> result;
    for (const Tensor& tensor : tensors) result.push_back(tensor.clone());
    return result;
  }

  std::vector<Tensor> trained_;
  AdamW optimiser_;
  std::vector<Tensor> gradients_;
};

}  // namespace boolgrad::logic
