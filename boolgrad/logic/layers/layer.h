// Layers as rows of a table. A layer kind is one unit: its shape rule, parameters and their
// initialisation, soft forward pass (differentiated by the tape), hard forward pass, emission as
// gates, experiment keys and device kernels. `model/layer_kinds.h` lists all kinds; the tests
// iterate over that list.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "boolgrad/backend/device/capabilities.h"
#include "boolgrad/backend/device/network.h"
#include "boolgrad/logic/gate_sink.h"
#include "boolgrad/options/device.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::logic {

/// A layer with its parameters.
///
/// Inputs and outputs are unsigned integers of `input_digits()` and `output_digits()` binary
/// digits: bits for gates, bytes for features, sums for heads.
class Layer {
 public:
  Layer() = default;
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  /// Number of inputs.
  virtual std::int64_t inputs() const = 0;
  /// Number of outputs.
  virtual std::int64_t outputs() const = 0;
  /// Binary digits per input.
  virtual int input_digits() const { return 1; }
  /// Binary digits per output.
  virtual int output_digits() const { return 1; }

  /// The trainable tensors, in a fixed order. Updating them in place changes the layer.
  virtual std::vector<Tensor> parameters() const { return {}; }

  /// Soft forward pass, recorded on the tape: [inputs, samples] to [outputs, samples].
  virtual Tensor soft(const Tensor& x) const = 0;

  /// The function whose derivative the backward pass of `soft` computes. It differs from `soft` for
  /// layers with a straight-through estimator.
  virtual Tensor differentiated(const Tensor& x) const { return soft(x); }

  /// Hard forward pass on integers: int32 [outputs, samples].
  virtual Tensor hard(const Tensor& x) const = 0;

  /// Emits the hardened layer as gates. There are `input_digits()` signals per input and
  /// `output_digits()` per output, least significant first.
  virtual std::vector<Signal> emit(std::span<const Signal> inputs, GateSink& sink) const = 0;
};

/// The results of an example on one device, for comparison between devices.
struct LayerResults {
  double loss = 0;
  std::vector<Tensor> gradients;
  Tensor soft;
  Tensor hard;
};

/// Random float32 values from 0 to 1, for the examples of layer kinds.
Tensor example_values(const Shape& shape, std::uint64_t seed);

/// Runs one training step without update, and an evaluation.
LayerResults results_of(DeviceNetwork& program, const NetworkStepArguments& arguments = {});

/// A row of the table of layer kinds.
struct LayerKind {
  std::string_view name;
  std::string_view summary;
  /// Experiment keys that configure the layer. A key that ends with `.` stands for a section.
  std::vector<std::string_view> keys;
  /// Features that a device must support to train the layer.
  std::vector<Feature> features;
  /// Number of variants that the tests cover.
  int variants;
  /// A small layer with random parameters, initialised as for training. Variants count from 0.
  std::unique_ptr<Layer> (*example)(int variant, DType dtype, std::uint64_t seed);
  /// Loss, gradients and evaluation of a small model built around the layer, on a device.
  LayerResults (*run)(int variant, const Device& device);
};

}  // namespace boolgrad::logic
