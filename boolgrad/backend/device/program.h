// The common interface of training programs on a device: access to parameters and moments.
// `DeviceNetwork` and `DeviceAutomaton` add load, step and evaluate for their kind of model.
#pragma once

#include <span>
#include <vector>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// The result of a training step.
struct StepResult {
  double loss = 0;
  /// Whether loss and gradients were finite. Otherwise nothing was updated.
  bool finite = true;
  /// Standard deviation of the group sums of the batch, if the step had a temperature of its own.
  double sum_deviation = 0;
};

/// A training program on a device.
class DeviceProgram {
 public:
  DeviceProgram() = default;
  virtual ~DeviceProgram() = default;
  DeviceProgram(const DeviceProgram&) = delete;
  DeviceProgram& operator=(const DeviceProgram&) = delete;

  /// The current parameters, in a fixed order.
  virtual std::vector<Tensor> parameters() const = 0;

  /// Sets the moments of the optimiser, in the shapes of the parameters.
  virtual void set_moments(std::span<const Tensor> first, std::span<const Tensor> second) = 0;
  /// The first moments of the optimiser.
  virtual std::vector<Tensor> first_moments() const = 0;
  /// The second moments of the optimiser.
  virtual std::vector<Tensor> second_moments() const = 0;

  /// The gradients of the last computed loss.
  virtual std::vector<Tensor> parameter_gradients() const = 0;
};

}  // namespace boolgrad
