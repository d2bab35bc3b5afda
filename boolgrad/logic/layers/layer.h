// Layers as rows of a table. A layer kind is one unit: its shape rule, parameters and their
// initialisation, soft forward (whose backward is the tape's), hard forward on bits, gates, keys of
// experiments and kernels of devices. `model/layer_kinds.h` lists all of them, and the tests go
// through that list.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "boolgrad/backend/device/capabilities.h"
#include "boolgrad/backend/device/device.h"
#include "boolgrad/backend/device/network.h"
#include "boolgrad/logic/gate_sink.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// A layer of some kind, with its parameters.
///
/// Values are numbers of `input_digits()` and `output_digits()` binary digits: bits for gates,
/// bytes for features, sums for heads.
class Layer {
 public:
  Layer() = default;
  virtual ~Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  // Shape rule.
  virtual std::int64_t inputs() const = 0;
  virtual std::int64_t outputs() const = 0;
  virtual int input_digits() const { return 1; }
  virtual int output_digits() const { return 1; }

  /// What is trained, in a fixed order; the layer reads these very tensors.
  virtual std::vector<Tensor> parameters() const { return {}; }

  /// [inputs, samples] to [outputs, samples], on the tape.
  virtual Tensor soft(const Tensor& x) const = 0;

  /// The function whose derivative the backward pass of `soft` computes: `soft` itself, unless that
  /// is a step function trained through a smooth one.
  virtual Tensor differentiated(const Tensor& x) const { return soft(x); }

  /// What the hardened layer gives for whole numbers: int32 [outputs, samples].
  virtual Tensor hard(const Tensor& x) const = 0;

  /// The hardened layer as gates: `input_digits()` signals per input, the lowest first, and
  /// `output_digits()` per output.
  virtual std::vector<Signal> emit(std::span<const Signal> inputs, GateSink& sink) const = 0;
};

/// What a device computes of an example: compared with what the CPU does.
struct LayerResults {
  double loss = 0;
  std::vector<Tensor> gradients;
  Tensor soft;
  Tensor hard;
};

/// Of a network program: loss and gradients of a step, and an evaluation.
LayerResults results_of(DeviceNetwork& program, const NetworkStepArguments& arguments = {});

/// A row of the table.
struct LayerKind {
  std::string_view name;
  std::string_view summary;
  /// Keys of experiments that shape such a layer; a key that ends with `.` stands for a section.
  std::vector<std::string_view> keys;
  /// What a device must support to train it.
  std::vector<Feature> features;
  /// A small layer with random parameters, initialised as training does, for every variant that the
  /// tests should see: variants are counted from 0.
  int variants;
  std::unique_ptr<Layer> (*example)(int variant, DType dtype, std::uint64_t seed);
  /// A training step's loss and gradients, and an evaluation, of a small model whose essential part
  /// is such a layer, on a device.
  LayerResults (*run)(int variant, const Device& device);
};

}  // namespace boolgrad
