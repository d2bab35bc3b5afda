// Gate networks on a device, and the reference implementation on the tape.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/backend/device/network.h"
#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/logic/hardening.h"
#include "boolgrad/logic/head.h"
#include "boolgrad/logic/host_network.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/loss.h"
#include "boolgrad/ops/shaping.h"
#include "tests/support/cuda.h"
#include "tests/support/random_tensor.h"

namespace boolgrad {

struct NetworkScene {
  std::int64_t inputs = 5;
  std::vector<std::int64_t> widths = {7, 3};
  std::vector<int> arities = {2, 2};
  std::int64_t samples = 9;
  Parametrisation parametrisation = Parametrisation::softmax16;
};

inline logic::Network network_of(const NetworkScene& scene) {
  logic::Network network(scene.inputs, scene.parametrisation, DType::float32);
  for (std::uint32_t i = 0; i < scene.widths.size(); ++i) {
    const logic::WiringSize size{network.outputs(), scene.widths[i], scene.arities[i]};
    network.add_layer(
        logic::random_wiring(size, 3, i),
        logic::initial_logits(scene.parametrisation, size.gates, size.arity, DType::float32,
                              {logic::Initialisation::gaussian, 1.5}, 5, i));
  }
  return network;
}

/// The same network in float64.
inline logic::Network in_float64(const logic::Network& network) {
  TensorFile file = network.to_file();
  for (auto& [name, tensor] : file.tensors) {
    if (tensor.dtype() == DType::float32) tensor = cast(tensor, DType::float64);
  }
  return logic::Network::from_file(file);
}

/// Random numbers between 0 and 1.
inline Tensor shares(const Shape& shape, std::uint64_t seed) {
  return random_tensor(shape, DType::float32, seed, {.low = 0.05, .high = 0.95, .kinks = {}});
}

/// Random classes, or regression values from 2 to 5.
inline Tensor labels_for(const Head& head, std::int64_t samples) {
  if (head.kind == HeadKind::regression) {
    return random_tensor({samples}, DType::float32, 2, {.low = 2, .high = 5, .kinks = {}});
  }
  const std::int64_t classes = head.kind == HeadKind::binary ? 2 : head.classes;
  Tensor labels({samples}, DType::int32);
  std::int64_t next = 0;
  for (std::int32_t& label : labels.mutable_values<std::int32_t>()) {
    label = static_cast<std::int32_t>(next / 3 * 7 % classes);
    ++next;
  }
  return labels;
}

inline Tensor targets_for(const NetworkSpec& spec, std::int64_t outputs, std::int64_t samples) {
  return spec.head ? labels_for(*spec.head, samples) : shares({outputs, samples}, 2);
}

inline void load(DeviceNetwork& device, const logic::Network& network,
                 const std::vector<Tensor>& offsets = {}) {
  std::vector<Tensor> parameters = logic::detached(network.parameters());
  for (const Tensor& offset : offsets) parameters.push_back(offset.detach());
  device.set_parameters(parameters, logic::masks_of(network), network.input_mask());
}

/// A program without data. Learned thresholds need data before parameters.
inline std::unique_ptr<DeviceNetwork> empty_on_device(const Device& device,
                                                      const logic::Network& network,
                                                      const NetworkSpec& spec) {
  return make_device_network(device, logic::wires_of(network), spec);
}

inline std::unique_ptr<DeviceNetwork> on_device(const Device& device, const logic::Network& network,
                                                const NetworkSpec& spec) {
  auto made = empty_on_device(device, network, spec);
  load(*made, network);
  return made;
}

inline Tensor with_scaled_gradient(const Tensor& x, double factor) {
  return record("with_scaled_gradient", {x}, x.detach(), {},
                [factor](const VjpContext& c) { return std::vector{scale(c.gradient(), factor)}; });
}

inline Tensor element_loss(const LossOptions& loss, const Tensor& y, const Tensor& target) {
  switch (loss.kind) {
    case LossKind::squares: return sum_of_squares(y, target);
    case LossKind::l4: return l4(y, target);
    case LossKind::bce: return binary_cross_entropy(y, target);
    default: return focal(y, target, {.gamma = loss.focal_gamma});
  }
}

/// The tables of a step on the tape.
inline std::vector<Tensor> step_tables(const logic::Network& network,
                                       const NetworkStepArguments& step) {
  const std::vector<Tensor> logits =
      logic::hardened_logits(step.hardening, network.parameters(), network.parametrisation());
  std::vector<Tensor> hard;
  std::vector<Tensor> frozen;
  for (std::size_t i = 0; i < logits.size(); ++i) hard.push_back(network.hard_tables_of(i));
  for (const Tensor& layer : step.frozen) frozen.push_back(cast(layer, network.dtype()));
  return logic::hardened_tables(step.hardening, network.tables(logits), hard, frozen);
}

/// The loss of a step on the tape, in the network's dtype.
inline Tensor loss_on_tape(const logic::Network& network, const Tensor& x, const Tensor& targets,
                           const NetworkSpec& spec, const NetworkStepArguments& step = {}) {
  std::vector<Tensor> tables = step_tables(network, step);
  double factor = 1;
  for (std::size_t i = tables.size(); i-- > 0;) {
    tables[i] = with_scaled_gradient(tables[i], factor);
    factor *= spec.gradient_factor;
  }
  const Tensor y = network.soft(with_scaled_gradient(x, factor), tables);
  if (spec.head) return logic::head_loss(*spec.head, y, targets, spec.label_smoothing);
  return element_loss(spec.loss, y, cast(targets, network.dtype()));
}

/// Compares loss and gradients of a step with the tape in float64, and checks that a second run
/// gives the same bits. The device already has parameters and data. Returns the gradients.
inline std::vector<Tensor> expect_same_gradients(DeviceNetwork& device,
                                                 const logic::Network& network, const Tensor& x,
                                                 const Tensor& targets, const NetworkSpec& spec,
                                                 const NetworkStepArguments& step,
                                                 double tolerance) {
  const double loss = device.gradients(step);
  std::vector<Tensor> gradients = device.parameter_gradients();
  const logic::Network exact = in_float64(network);
  const Tensor expected_loss = loss_on_tape(exact, cast(x, DType::float64), targets, spec, step);
  const std::vector<Tensor> expected = grad(expected_loss, exact.parameters());
  EXPECT_NEAR(loss, expected_loss.item(), tolerance * expected_loss.item());
  EXPECT_EQ(gradients.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_LT(largest_error(gradients[i], expected[i]), tolerance) << "layer " << i;
  }
  EXPECT_EQ(device.gradients(step), loss);
  const std::vector<Tensor> again = device.parameter_gradients();
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(same_bits(gradients[i], again[i]));
  return gradients;
}

/// Compares soft and hard scores of `x` with the network on the CPU.
inline void expect_same_scores(DeviceNetwork& device, const logic::Network& network,
                               const Tensor& x, const NetworkSpec& spec, double tolerance) {
  const NetworkScores scores = device.evaluate();
  const logic::Network exact = in_float64(network);
  const Tensor y = exact.soft(cast(x, DType::float64)).detach();
  const logic::BitMatrix bits = network.hard(logic::pack_bits(x));
  if (!spec.head) {
    EXPECT_LT(largest_error(scores.soft, y), tolerance);
    EXPECT_TRUE(same_bits(scores.hard, logic::unpack_bits(bits, DType::uint8)));
    return;
  }
  EXPECT_LT(largest_error(scores.soft, logic::group_sums(y, spec.head->groups())), tolerance);
  EXPECT_EQ(scores.hard.dtype(), DType::int32);
  const Tensor counts = logic::group_counts(bits, spec.head->groups());
  ASSERT_EQ(scores.hard.shape(), counts.shape());
  for (std::int64_t i = 0; i < counts.size(); ++i) {
    EXPECT_EQ(scores.hard.at(i), counts.at(i)) << "sum " << i;
  }
}

}  // namespace boolgrad
