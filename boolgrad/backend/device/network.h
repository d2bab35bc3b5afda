// Training programs of gate networks: a network with its optimiser and data on a device.
//
// CUDA and Vulkan implement `DeviceNetwork` in `backend/`, the CPU in `logic/host_network.h`, where
// the tape is. No vendor header is included here, so that modules below need not know which
// backends were built.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "boolgrad/backend/device/device.h"
#include "boolgrad/backend/device/program.h"
#include "boolgrad/backend/options/adamw.h"
#include "boolgrad/backend/options/hardening.h"
#include "boolgrad/backend/options/head.h"
#include "boolgrad/backend/options/image_shift.h"
#include "boolgrad/backend/options/loss.h"
#include "boolgrad/backend/options/parametrisation.h"
#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// What a network is trained to do and how.
struct NetworkSpec {
  std::int64_t batch = 1;  ///< samples per step
  Parametrisation parametrisation = Parametrisation::softmax16;
  /// Where given, the outputs are summed in groups and the loss is the head's, as `head_loss` of
  /// `logic/head.h` defines it; else it is `loss` of every output against its own target, summed.
  std::optional<Head> head = {};
  double label_smoothing = 0;  ///< of the head
  LossOptions loss = {};
  /// What gradients are multiplied by on their way from a layer's outputs to its inputs.
  double gradient_factor = 1;
  AdamWOptions optimiser = {};

  /// Rows of what the loss reads: sums of groups, or outputs.
  std::int64_t score_rows(std::int64_t outputs) const { return head ? head->groups() : outputs; }
};

/// Samples whose inputs are bits that are computed when they are used: input b is 1 where feature
/// `sources[b]` is above `thresholds[b]`.
struct FeatureSamples {
  Tensor features;  ///< uint8 or float32 [samples, features]
  std::span<const std::int32_t> sources;
  std::span<const float> thresholds;
  // Images are [channels, height, width] and may be shifted; 0 where features are no image.
  std::int64_t height = 0;
  std::int64_t width = 0;
  /// Where given, thresholds are trained: threshold b is thresholds[b] + offset[b] ranges[b], where
  /// the offsets [inputs] are one more parameter after the logits. The gradient passes as if bit b
  /// were sigmoid((x - threshold) / (width_share ranges[b])).
  std::span<const float> ranges = {};
  double width_share = 0.1;

  bool learns_thresholds() const { return !ranges.empty(); }
};

/// Which samples are meant: those that steps learn from, or those that `evaluate` reads. Until the
/// second are given, `evaluate` reads the first.
enum class DataRole : std::uint8_t { training, evaluation };

/// What one step is taken on.
struct NetworkStepArguments {
  std::int64_t step = 0;  ///< counted from 0
  double learning_rate = 0;
  /// The samples of the step: as many as a batch, or none for the first ones in order.
  std::span<const std::int64_t> samples = {};
  std::span<const ImageShift> shifts = {};  ///< one per sample, or none
  HardeningStep hardening = {};
  /// Of `HardeningKind::freeze`: for every layer a float32 [gates] that is 1 where a gate's table
  /// is hard and gets no gradient, 0 elsewhere.
  std::span<const Tensor> frozen = {};
};

/// What all samples lead to, soft and hardened: the sums of the head's groups (float32 and int32
/// [groups, samples]), or without a head the outputs (float32 and uint8 [outputs, samples]).
struct NetworkScores {
  Tensor soft;
  Tensor hard;
};

/// Before its first use it is given data and parameters. Parameters are the logits of all layers
/// and, where thresholds are trained, their offsets.
class DeviceNetwork : public DeviceProgram {
 public:
  /// `inputs` [inputs, samples] of the network's dtype and `targets`: [outputs, samples] without a
  /// head, else int32 classes or, of a regression, float32 values [samples].
  virtual void set_cases(DataRole role, const Tensor& inputs, const Tensor& targets) = 0;

  /// The same for bits of features, which are copied as they are, so that shifted images need no
  /// memory of their own. Whether thresholds are trained is for the training samples to say.
  virtual void set_samples(DataRole role, const FeatureSamples& samples, const Tensor& targets) = 0;

  /// Parameters and masks [gates] of all layers, and the mask of the inputs.
  virtual void set_parameters(std::span<const Tensor> parameters, std::span<const Tensor> masks,
                              const Tensor& input_mask) = 0;

  virtual StepResult step(const NetworkStepArguments& arguments) = 0;

  /// The loss of such a step without an update, and what it leaves on the device.
  virtual double gradients(const NetworkStepArguments& arguments) = 0;
  /// Of every layer, [gates, batch]; a layer whose outputs are only summed may be left out.
  virtual std::vector<Tensor> layer_outputs() const = 0;

  /// With the parameters as they are on the device; nothing is copied but the result.
  virtual NetworkScores evaluate() = 0;

  /// Milliseconds for `count` steps one after the other, each like the last one.
  virtual double milliseconds(int count) = 0;
};

/// A network on `device`, which is not the CPU. The wires are copied. Says why where the device is
/// not there.
std::unique_ptr<DeviceNetwork> make_device_network(const Device& device,
                                                   std::span<const LutWires> layers,
                                                   const NetworkSpec& spec);

}  // namespace boolgrad
