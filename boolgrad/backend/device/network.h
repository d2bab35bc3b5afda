// Networks of soft gates on a device that is not the CPU: whole training steps, and the hardened
// circuit.
//
// No header of a vendor is included here, so that rooms above need not know which backends were
// built.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "boolgrad/backend/device/device.h"
#include "boolgrad/backend/options/adamw.h"
#include "boolgrad/backend/options/image_shift.h"
#include "boolgrad/backend/options/loss.h"
#include "boolgrad/backend/options/parametrisation.h"
#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// What a network is trained to do and how.
struct NetworkPlan {
  std::int64_t batch = 1;  ///< cases of a step
  Parametrisation parametrisation = Parametrisation::softmax16;
  LossOptions loss = {};
  /// Where above 0, the loss is the mean cross-entropy of as many scores: sums of equal groups of
  /// the outputs.
  std::int64_t classes = 0;
  double temperature = 1;  ///< that their sums are divided by
  double smoothing = 0;    ///< share of a label that goes to all classes alike
  /// What gradients are multiplied by on their way from a layer's outputs to its inputs.
  double gradient_factor = 1;
  AdamWOptions optimiser = {};

  bool has_classes() const { return classes > 0; }
  /// Logits of a gate of `layer`.
  std::int64_t logits_of(const LutWires& layer) const {
    return logit_count(parametrisation, layer.arity);
  }
};

/// Samples whose inputs are bits that are made when they are used: input b is 1 where feature
/// `sources[b]` is above `levels[b]`.
struct BitSamples {
  Tensor features;  ///< uint8 or float32 [cases, features]
  std::span<const std::int32_t> sources;
  std::span<const float> levels;
  // Pictures are [channels, height, width] and may be moved; 0 where features are no picture.
  std::int64_t height = 0;
  std::int64_t width = 0;
};

struct NetworkStep {
  double loss = 0;
  bool finite = true;  ///< else nothing was updated
};

/// Over all cases.
struct NetworkScore {
  double soft_loss = 0;
  /// Some soft output on the wrong side of one half; or, of classes, another with the largest sum.
  std::int64_t soft_wrong_cases = 0;
  std::int64_t hard_wrong_bits =
      0;  ///< outputs of the hardened circuit; of classes as many as cases
  std::int64_t hard_wrong_cases = 0;
};

/// A network of float32 on a device, with its optimiser and the cases it learns from. Before its
/// first use it is given cases and parameters.
class DeviceNetwork {
 public:
  DeviceNetwork() = default;
  virtual ~DeviceNetwork() = default;
  DeviceNetwork(const DeviceNetwork&) = delete;
  DeviceNetwork& operator=(const DeviceNetwork&) = delete;

  /// `inputs` [inputs, cases] and `targets` [outputs, cases], float32; or, of classes, int32 labels
  /// [cases].
  virtual void set_cases(const Tensor& inputs, const Tensor& targets) = 0;

  /// The same for bits of samples, whose features are copied. Only the features lie on the device,
  /// so that moved pictures need no memory of their own.
  virtual void set_samples(const BitSamples& samples, const Tensor& targets) = 0;

  /// Logits [gates, logits] and masks [gates] of all layers, and the mask of the inputs.
  virtual void set_parameters(std::span<const Tensor> logits, std::span<const Tensor> masks,
                              const Tensor& input_mask) = 0;
  virtual std::vector<Tensor> logits() const = 0;

  /// The optimiser's moments, in the shapes of the logits.
  virtual void set_moments(std::span<const Tensor> first, std::span<const Tensor> second) = 0;
  virtual std::vector<Tensor> first_moments() const = 0;
  virtual std::vector<Tensor> second_moments() const = 0;

  /// From the next step on its tables are soft + share (hard - soft), and gradients pass as if they
  /// were soft. Nothing else sees it: evaluations are those of soft and of hard tables.
  virtual void set_hard_share(double share) = 0;

  /// Step `step`, counted from 0, on the cases picked: as many as a batch, or none for the first
  /// ones in order. Where there are `moves`, one a picked case, its picture is moved by that.
  virtual NetworkStep step(std::span<const std::int64_t> picked, std::int64_t step,
                           double learning_rate, std::span<const ImageShift> moves) = 0;
  NetworkStep step(std::span<const std::int64_t> picked, std::int64_t number,
                   double learning_rate) {
    return step(picked, number, learning_rate, {});
  }

  /// The loss of such a step without an update, and what it leaves on the device.
  virtual double gradients(std::span<const std::int64_t> picked,
                           std::span<const ImageShift> moves) = 0;
  double gradients(std::span<const std::int64_t> picked) { return gradients(picked, {}); }
  virtual std::vector<Tensor> logit_gradients() const = 0;
  /// Of every layer, [gates, batch]; not of the layer whose outputs are summed to classes.
  virtual std::vector<Tensor> outputs() const = 0;

  virtual NetworkScore evaluate() = 0;
  /// What the hardened circuit gives, as 0 and 1: uint8 [outputs, cases].
  virtual Tensor hard_outputs() = 0;

  /// Milliseconds for `count` steps one after the other, each like the last one.
  virtual double milliseconds(int count) = 0;
};

/// A network on `device`, which is not the CPU. The wires are copied. Says why where the device is
/// not there.
std::unique_ptr<DeviceNetwork> make_device_network(const Device& device,
                                                   std::span<const LutWires> layers,
                                                   const NetworkPlan& plan);

}  // namespace boolgrad
