// Training programs of gate networks: a network with its optimiser and data on a device.
//
// CUDA and Vulkan implement `DeviceNetwork` in `backend/`, the CPU implements it with the tape in
// `logic/host_network.h`. This header includes no vendor header: other modules need not know which
// backends were built.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "boolgrad/backend/device/program.h"
#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/options/adamw.h"
#include "boolgrad/options/device.h"
#include "boolgrad/options/hardening.h"
#include "boolgrad/options/head.h"
#include "boolgrad/options/image_transform.h"
#include "boolgrad/options/loss.h"
#include "boolgrad/options/parametrisation.h"
#include "boolgrad/options/wire_forward.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// The training setup of a network.
struct NetworkSpec {
  std::int64_t batch = 1;  ///< samples per step
  Parametrisation parametrisation = Parametrisation::softmax16;
  /// With a head, the outputs are summed in groups and the loss is `head_loss` of `logic/head.h`.
  /// Without one, the loss is `loss` of every output against its own target, summed.
  std::optional<Head> head = {};
  /// If above 0, the weights of the head's outputs are trained: powers of two up to this exponent,
  /// as in `power_weights` of `logic/head.h`. The exponents, float32 [outputs], are the last
  /// parameter.
  std::int64_t max_exponent = 0;
  double label_smoothing = 0;  ///< only with a head
  double teacher_weight = 0;   ///< of the soft targets of samples that have them
  LossOptions loss = {};       ///< only without a head
  /// Factor of the gradients from a layer's outputs to its inputs.
  double gradient_factor = 1;
  /// Weight of `two_input_gates` of `logic/gate_penalty.h` in the loss. Only on the CPU.
  double gate_penalty = 0;
  WireForward wire_forward = WireForward::hard;  ///< of learned wires
  AdamWOptions optimiser = {};
  /// Whether the layers of a convolution are computed at once where possible. Without this, a GPU
  /// computes layer by layer: the reference for tests.
  bool fuses_convolutions = true;

  /// The number of scores per sample: group sums, or outputs.
  std::int64_t score_count(std::int64_t outputs) const { return head ? head->groups() : outputs; }
};

/// Samples whose input bits are computed on the fly: input b is 1 if feature `sources[b]` is above
/// `thresholds[b]`.
struct FeatureSamples {
  Tensor features;  ///< uint8 or float32 [samples, features]
  std::span<const std::int32_t> sources;
  std::span<const float> thresholds;
  // Size of images [channels, height, width], which may be transformed; 0 for other features.
  std::int64_t height = 0;
  std::int64_t width = 0;
  /// If given, thresholds are trained: threshold b is thresholds[b] + offset[b] ranges[b]. The
  /// offsets [inputs] are one more parameter after the logits. The gradient is that of sigmoid((x -
  /// threshold) / (width_share ranges[b])).
  std::span<const float> ranges = {};
  double width_share = 0.1;
  /// Targets of a teacher, float32 [samples, classes], or undefined. Only for heads of classes: the
  /// loss is the mean of the losses of labels and soft targets, weighted by `teacher_weight`.
  Tensor soft_targets = {};

  bool learns_thresholds() const { return !ranges.empty(); }
};

/// The data set for training steps, or for `evaluate`. Without evaluation data, `evaluate` uses the
/// training data.
enum class DataRole : std::uint8_t { training, evaluation };

/// The arguments of a training step.
struct NetworkStepArguments {
  std::int64_t step = 0;  ///< counted from 0
  double learning_rate = 0;
  /// Indices of the samples of the batch. Empty: the first samples in order.
  std::span<const std::int64_t> samples = {};
  std::span<const ImageTransform> transforms = {};  ///< one per sample, or empty
  HardeningStep hardening = {};
  /// For `HardeningKind::freeze`: one float32 [tables] per layer, 1 for gates that are hard and get
  /// no gradient, 0 for all others.
  std::span<const Tensor> frozen = {};
  double wire_temperature = 1;                  ///< divides the logits of learned wires
  std::optional<double> head_temperature = {};  ///< replaces that of the head
};

/// The scores of all samples, soft and hardened: group sums with a head (float32 and int32 [groups,
/// samples]), outputs without one (float32 and uint8 [outputs, samples]).
struct NetworkScores {
  Tensor soft;
  Tensor hard;
};

/// What tells which sources a gate should read: the gradient of the loss with respect to the weight
/// of source i in slot s is the product of row s of `slot_gradients` and row i of `inputs`.
struct WireSignals {
  Tensor inputs;          ///< [inputs of the layer, batch]
  Tensor slot_gradients;  ///< [slots, batch]
};

/// A training program for a network. Set data and parameters before the first use. Parameters are
/// the logits of all layers, then the logits [gates, arity, candidates] of learned wires, then the
/// offsets of trained thresholds, then the exponents of trained weights.
class DeviceNetwork : public DeviceProgram {
 public:
  /// Sets samples given as `inputs` [inputs, samples] of the network's dtype. `targets` are
  /// [outputs, samples] without a head; with one, [samples] of int32 classes or float32 regression
  /// values.
  virtual void set_cases(DataRole role, const Tensor& inputs, const Tensor& targets) = 0;

  /// Sets samples given as features. Only the features are copied, so transformed images take no
  /// extra memory. The training samples decide whether thresholds are trained.
  virtual void set_samples(DataRole role, const FeatureSamples& samples, const Tensor& targets) = 0;

  /// Sets parameters, one mask [tables] per layer, and the mask of the inputs.
  virtual void set_parameters(std::span<const Tensor> parameters, std::span<const Tensor> masks,
                              const Tensor& input_mask) = 0;

  /// Replaces the candidates of a layer whose wires are learned by as many others.
  virtual void set_candidates(std::size_t layer, const CandidateWires& candidates) = 0;

  /// Takes a training step.
  virtual StepResult step(const NetworkStepArguments& arguments) = 0;

  /// Computes the gradients of a step without updating parameters. Returns the loss.
  virtual double gradients(const NetworkStepArguments& arguments) = 0;
  /// The signals of a layer whose wires are learned, in a step without update.
  virtual WireSignals wire_signals(const NetworkStepArguments& arguments, std::size_t layer) = 0;
  /// The outputs [gates, batch] of every layer whose outputs are stored. Omits a last layer that is
  /// only summed, and inner layers of convolutions that are computed at once.
  virtual std::vector<Tensor> layer_outputs() const = 0;

  /// Evaluates all samples with the current parameters. Learned wires are the chosen ones; with
  /// `WireForward::soft`, the soft scores read their mixtures at `wire_temperature`.
  virtual NetworkScores evaluate(double wire_temperature) = 0;
  NetworkScores evaluate() { return evaluate(1); }

  /// Repeats the last step `count` times and returns the time in milliseconds.
  virtual double milliseconds(int count) = 0;
};

/// Creates a training program on `device`, which must be a GPU. Copies the wires. Throws if the
/// device is not available.
std::unique_ptr<DeviceNetwork> make_device_network(const Device& device,
                                                   std::span<const LutWires> layers,
                                                   const NetworkSpec& spec);

}  // namespace boolgrad
