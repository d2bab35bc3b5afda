// Convolutions on devices, compared with the CPU step by step: stacks of convolutions, with and
// without layers of gates and heads on top of them. Skipped without a device.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "boolgrad/backend/plan/network_stages.h"
#include "tests/backend/device_networks.h"
#include "tests/support/convolution_networks.h"
#include "tests/support/devices.h"

namespace boolgrad {
namespace {

using logic::ConvolutionOptions;
using logic::ImageSize;

class DeviceConvolutions : public DeviceTest {};

constexpr double tolerance = 2e-5;

/// Convolutions, then layers of gates.
struct ConvolutionScene {
  std::string name;
  ImageSize image;
  std::vector<ConvolutionOptions> convolutions;
  std::vector<std::int64_t> hidden = {30, 20};
  Parametrisation parametrisation = Parametrisation::sigmoid;
  std::int64_t candidates = 1;  ///< of leaves
  WireForward wire_forward = WireForward::hard;
  std::int64_t samples = 21;
};

logic::Network network_of(const ConvolutionScene& scene) {
  logic::Network network(scene.image.bits(), scene.parametrisation, DType::float32);
  ImageSize image = scene.image;
  for (const ConvolutionOptions& options : scene.convolutions) {
    image = logic::add_convolution(
        network, image, options,
        {.initial = random_tables, .seed = 5, .candidates = scene.candidates});
  }
  for (const std::int64_t gates : scene.hidden) {
    network.add_layer({.gates = gates, .seed = 5, .initialisation = random_tables});
  }
  return network;
}

NetworkSpec spec_of(const ConvolutionScene& scene) {
  return {.batch = scene.samples,
          .parametrisation = scene.parametrisation,
          .gradient_factor = 1.3,
          .wire_forward = scene.wire_forward};
}

const std::vector<ConvolutionScene>& scenes() {
  using P = Parametrisation;
  static const std::vector<ConvolutionScene> all = {
      {"four levels", {3, 6, 5}, {{.kernels = 2, .padding = 2, .depth = 4}}},
      {"five levels", {2, 6, 6}, {{.kernels = 2, .padding = 1, .depth = 5}}},
      {"pooling in two layers", {1, 9, 8}, {{.kernels = 3, .padding = 1, .pool = 3}}},
      {"two convolutions",
       {1, 12, 12},
       {{.kernels = 6, .window = 5}, {.kernels = 8, .padding = 1}},
       {40},
       P::softmax16},
      {"three convolutions",
       {2, 12, 12},
       {{.kernels = 4, .window = 2, .pool = 1},
        {.kernels = 6, .padding = 1, .depth = 4},
        {.kernels = 5, .padding = 1, .depth = 2}},
       {25},
       P::walsh},
      {"pooling is last", {2, 7, 7}, {{.kernels = 5, .padding = 1}}, {}},
      {"a tree is last", {2, 7, 7}, {{.kernels = 5, .padding = 1, .pool = 1}}, {}},
      {"one position", {2, 3, 3}, {{.kernels = 5, .stride = 3, .padding = 1, .pool = 1}}, {}},
      {"arity 5", {2, 6, 6}, {{.kernels = 3, .padding = 1, .depth = 1, .arity = 5}}},
      {"learned leaves", {2, 7, 7}, {{.kernels = 4, .padding = 1}}, {30, 20}, P::sigmoid, 4},
      {"mixed leaves of three inputs",
       {2, 7, 7},
       {{.kernels = 4, .padding = 1, .depth = 2, .arity = 3},
        {.kernels = 5, .depth = 1, .pool = 1}},
       {30, 20},
       P::walsh,
       4,
       WireForward::soft},
      {"many samples",
       {1, 10, 10},
       {{.kernels = 5, .padding = 1}},
       {25},
       P::sigmoid,
       3,
       WireForward::hard,
       300},
  };
  return all;
}

struct Programs {
  std::unique_ptr<DeviceNetwork> there;
  std::unique_ptr<DeviceNetwork> again;
  std::unique_ptr<DeviceNetwork> host;
};

void expect_near(const std::vector<Tensor>& received, const std::vector<Tensor>& expected,
                 double limit) {
  ASSERT_EQ(received.size(), expected.size());
  for (std::size_t i = 0; i < received.size(); ++i) {
    ASSERT_EQ(received[i].shape(), expected[i].shape());
    if (expected[i].size() == 0) continue;
    EXPECT_LT(largest_error(received[i], expected[i]), limit) << "tensor " << i;
  }
}

void expect_same_bits(const std::vector<Tensor>& some, const std::vector<Tensor>& others) {
  ASSERT_EQ(some.size(), others.size());
  for (std::size_t i = 0; i < some.size(); ++i) {
    EXPECT_TRUE(same_bits(some[i], others[i])) << "tensor " << i;
  }
}

void expect_same_scores(DeviceNetwork& there, DeviceNetwork& host) {
  for (const double temperature : {1.0, 0.6}) {
    const NetworkScores received = there.evaluate(temperature);
    const NetworkScores expected = host.evaluate(temperature);
    EXPECT_LT(largest_error(received.soft, expected.soft), tolerance);
    EXPECT_TRUE(same_bits(received.hard, expected.hard));
  }
}

/// The layers whose outputs a device stores: the last one of each stage, without a summed one.
std::vector<Tensor> stored(const std::vector<Tensor>& layers, const logic::Network& network,
                           const NetworkSpec& spec) {
  const std::vector<LutWires> wires = logic::wires_of(network);
  std::vector<Tensor> result;
  for (const NetworkStage& stage : network_stages(wires, spec.fuses_convolutions)) {
    if (!spec.head || stage.end() < layers.size()) result.push_back(layers[stage.last()]);
  }
  return result;
}

/// Layer outputs, losses, gradients, steps and scores; and the same bits in two runs.
void expect_agreement(const Device& device, const logic::Network& network,
                      const NetworkSpec& spec) {
  const Programs programs{empty_on_device(device, network, spec),
                          empty_on_device(device, network, spec),
                          logic::make_host_network(network, spec)};
  const Tensor x = shares({network.inputs(), spec.batch}, 1);
  const Tensor targets = targets_for(spec, network.outputs(), spec.batch);
  std::vector<Tensor> exponents;
  if (spec.max_exponent > 0) exponents.push_back(shares({network.outputs()}, 4));
  for (DeviceNetwork* program : {programs.there.get(), programs.again.get(), programs.host.get()}) {
    program->set_cases(DataRole::training, x, targets);
    load(*program, network, exponents);
  }
  DeviceNetwork& there = *programs.there;
  DeviceNetwork& host = *programs.host;
  const double loss = host.gradients({});
  EXPECT_NEAR(there.gradients({}), loss, tolerance * loss);
  expect_near(there.parameter_gradients(), host.parameter_gradients(), 1e-4);
  // On the CPU, layer outputs are those of the chosen wires.
  if (spec.wire_forward == WireForward::hard) {
    expect_near(there.layer_outputs(), stored(host.layer_outputs(), network, spec), tolerance);
  }
  expect_same_scores(there, host);
  for (std::size_t layer = 0; layer < network.layers().size(); ++layer) {
    if (!network.layers()[layer].learns_wires()) continue;
    const NetworkStepArguments step{.wire_temperature = 0.8};
    const WireSignals received = there.wire_signals(step, layer);
    const WireSignals expected = host.wire_signals(step, layer);
    expect_near({received.inputs, received.slot_gradients},
                {expected.inputs, expected.slot_gradients}, 1e-4);
  }
  for (std::int64_t i = 0; i < 3; ++i) {
    const NetworkStepArguments step{.step = i, .learning_rate = 0.02, .wire_temperature = 1.2};
    const StepResult taken = there.step(step);
    EXPECT_TRUE(taken.finite);
    EXPECT_NEAR(taken.loss, host.step(step).loss, 1e-4 * loss);
    EXPECT_EQ(programs.again->step(step).loss, taken.loss);
  }
  expect_same_bits(there.parameters(), programs.again->parameters());
  expect_same_bits(there.first_moments(), programs.again->first_moments());
  expect_near(there.first_moments(), host.first_moments(), 1e-3);
  expect_near(there.parameters(), host.parameters(), 1e-3);
}

TEST_P(DeviceConvolutions, AgreeWithTheCpu) {
  for (const ConvolutionScene& scene : scenes()) {
    for (const bool fuses : {false, true}) {
      SCOPED_TRACE(scene.name + (fuses ? ", fused" : ", layer by layer"));
      NetworkSpec spec = spec_of(scene);
      spec.fuses_convolutions = fuses;
      expect_agreement(device(), network_of(scene), spec);
      if (network_of(scene).outputs() % 5 != 0) continue;
      spec.head = Head{.classes = 5, .temperature = 3};
      expect_agreement(device(), network_of(scene), spec);
      spec.max_exponent = 2;
      expect_agreement(device(), network_of(scene), spec);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceConvolutions, all_other_devices, name_of_device);

}  // namespace
}  // namespace boolgrad
