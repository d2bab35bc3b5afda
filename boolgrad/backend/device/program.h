// What every training program on a device offers besides its steps: parameters and moments, in and
// out. `DeviceNetwork` and `DeviceAutomaton` add load, step and evaluate for their kind of model.
#pragma once

#include <span>
#include <vector>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

struct StepResult {
  double loss = 0;
  /// Whether loss and gradients were finite. Where they were not, nothing was updated.
  bool finite = true;
};

class DeviceProgram {
 public:
  DeviceProgram() = default;
  virtual ~DeviceProgram() = default;
  DeviceProgram(const DeviceProgram&) = delete;
  DeviceProgram& operator=(const DeviceProgram&) = delete;

  /// What is trained, in a fixed order, as it is now.
  virtual std::vector<Tensor> parameters() const = 0;

  /// The optimiser's moments, in the shapes of the parameters.
  virtual void set_moments(std::span<const Tensor> first, std::span<const Tensor> second) = 0;
  virtual std::vector<Tensor> first_moments() const = 0;
  virtual std::vector<Tensor> second_moments() const = 0;

  /// The gradients of the last loss that was asked for.
  virtual std::vector<Tensor> parameter_gradients() const = 0;
};

}  // namespace boolgrad
