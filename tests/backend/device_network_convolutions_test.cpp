// Convolutions on devices, compared with the tape and with the CPU program. Fused kernels are
// compared with the same network layer by layer. Skipped without a device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "boolgrad/backend/plan/network_stages.h"
#include "boolgrad/logic/convolution.h"
#include "boolgrad/options/names.h"
#include "tests/backend/device_networks.h"
#include "tests/support/convolution_networks.h"
#include "tests/support/devices.h"
#include "tests/support/messages.h"

namespace boolgrad {
namespace {

using logic::ConvolutionOptions;
using logic::ImageSize;

class DeviceNetworkConvolutions : public DeviceTest {};

constexpr double tolerance = 1e-5;

/// Images of two channels with 7 rows of 6 pixels.
constexpr ImageSize image{.channels = 2, .height = 7, .width = 6};

/// A convolution, and layers of gates on top of it.
logic::Network network_of(const ConvolutionOptions& options, Parametrisation parametrisation,
                          const std::vector<std::int64_t>& widths) {
  logic::Network network(image.bits(), parametrisation);
  add_convolution(network, image, options, 3);
  for (const std::int64_t gates : widths) {
    network.add_layer({.gates = gates, .seed = 4, .initialisation = random_tables});
  }
  return network;
}

/// Trees of every depth, single gates of several inputs, padding, strides and groups; no pooling,
/// and pooling at once and in two steps.
const std::vector<ConvolutionOptions>& convolutions() {
  static const std::vector<ConvolutionOptions> all = {
      {.kernels = 3, .window = 3, .depth = 1, .pool = 1},
      {.kernels = 3, .window = 3, .padding = 1, .depth = 1, .pool = 2},
      {.kernels = 4, .window = 2, .padding = 1, .depth = 2, .groups = 2, .pool = 2},
      {.kernels = 5, .window = 3, .padding = 2, .depth = 3, .pool = 2},
      {.kernels = 2, .window = 4, .stride = 2, .padding = 1, .depth = 3, .pool = 1},
      {.kernels = 3, .window = 3, .depth = 3, .pool = 3},
      {.kernels = 2, .window = 4, .padding = 2, .depth = 4, .pool = 2},
      {.kernels = 2, .window = 3, .padding = 1, .depth = 2, .arity = 3, .pool = 2},
      {.kernels = 2, .window = 3, .padding = 1, .depth = 1, .arity = 6, .pool = 3},
      {.kernels = 2, .window = 2, .padding = 1, .depth = 2, .arity = 1, .pool = 1},
      {.kernels = 2, .window = 3, .depth = 2, .arity = 4, .pool = 2},
  };
  return all;
}

bool suits(Parametrisation parametrisation, const ConvolutionOptions& options) {
  return parametrisation != Parametrisation::softmax16 || options.arity == 2;
}

std::string name_of(const ConvolutionOptions& options) {
  return "depth " + std::to_string(options.depth) + ", arity " + std::to_string(options.arity) +
         ", padding " + std::to_string(options.padding) + ", pool " + std::to_string(options.pool);
}

/// Random bits as float32.
Tensor random_bits(const Shape& shape, std::uint64_t seed) {
  Tensor bits = shares(shape, seed);
  for (float& bit : bits.mutable_values<float>()) bit = bit > 0.5F ? 1.0F : 0.0F;
  return bits;
}

/// Compares loss, gradients and scores, fused and layer by layer.
void expect_agreement(const Device& where, const logic::Network& network, NetworkSpec spec,
                      const Tensor& x, const NetworkStepArguments& step = {},
                      double limit = tolerance) {
  const Tensor targets = targets_for(spec, network.outputs(), x.shape()[1]);
  for (const bool fuses : {false, true}) {
    SCOPED_TRACE(fuses ? "fused" : "layer by layer");
    spec.fuses_convolutions = fuses;
    const auto there = on_device(where, network, spec);
    there->set_cases(DataRole::training, x, targets);
    expect_same_gradients(*there, network, x, targets, spec, step, limit);
    expect_same_scores(*there, network, x, spec, limit);
  }
}

TEST_P(DeviceNetworkConvolutions, AgreeWithTheTape) {
  for (const auto parametrisation :
       {Parametrisation::softmax16, Parametrisation::sigmoid, Parametrisation::walsh}) {
    for (const ConvolutionOptions& options : convolutions()) {
      if (!suits(parametrisation, options)) continue;
      SCOPED_TRACE(testing::Message() << to_string(parametrisation) << ", " << name_of(options));
      const NetworkSpec spec{.batch = 40, .parametrisation = parametrisation};
      expect_agreement(device(), network_of(options, parametrisation, {20, 5}), spec,
                       shares({image.bits(), 40}, 1));
    }
  }
}

TEST_P(DeviceNetworkConvolutions, AgreeForAnyNumberOfSamples) {
  for (const std::int64_t samples : {1, 3, 16, 17, 33, 64, 100, 128, 129, 300}) {
    SCOPED_TRACE(samples);
    for (const int depth : {1, 3}) {
      const ConvolutionOptions options{.kernels = 3, .padding = 1, .depth = depth, .pool = 2};
      expect_agreement(device(), network_of(options, Parametrisation::sigmoid, {5}),
                       {.batch = samples, .parametrisation = Parametrisation::sigmoid},
                       shares({image.bits(), samples}, 1));
    }
  }
}

/// Bits give many equal roots, which share the gradient of their maximum.
TEST_P(DeviceNetworkConvolutions, TiesShareTheGradient) {
  for (const ConvolutionOptions& options : convolutions()) {
    SCOPED_TRACE(name_of(options));
    const NetworkSpec spec{.batch = 40, .parametrisation = Parametrisation::sigmoid};
    expect_agreement(device(), network_of(options, Parametrisation::sigmoid, {5}), spec,
                     random_bits({image.bits(), 40}, 1));
    expect_agreement(device(), network_of(options, Parametrisation::sigmoid, {5}), spec,
                     Tensor::zeros({image.bits(), 40}, DType::float32));
  }
}

TEST_P(DeviceNetworkConvolutions, RandomNetworksAgreeWithTheTape) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const logic::Network network = random_convolution_network(seed);
    const NetworkSpec spec{.batch = 21,
                           .parametrisation = Parametrisation::sigmoid,
                           .gradient_factor = seed % 2 == 0 ? 1.0 : 1.3};
    expect_agreement(device(), network, spec, random_bits({network.inputs(), 21}, seed));
  }
}

constexpr Head classes{.kind = HeadKind::classes, .classes = 5, .temperature = 3};

/// Two convolutions, layers of gates, masks; hardened in every way.
TEST_P(DeviceNetworkConvolutions, HardenAsTheTapeDoes) {
  for (const auto parametrisation :
       {Parametrisation::softmax16, Parametrisation::sigmoid, Parametrisation::walsh}) {
    logic::Network network(image.bits(), parametrisation);
    const ImageSize inner =
        add_convolution(network, image, {.kernels = 6, .padding = 1, .depth = 2, .pool = 2}, 3);
    add_convolution(network, inner, {.kernels = 4, .window = 2, .padding = 1, .depth = 3}, 3);
    network.add_layer({.gates = 40, .seed = 4, .initialisation = random_tables});
    network.add_layer({.gates = 30, .seed = 4, .initialisation = random_tables});
    Tensor mask = Tensor::ones({network.layers()[0].wiring->tables()}, DType::float32);
    mask.mutable_values<float>()[2] = 0;
    network.set_mask(0, mask);
    std::vector<Tensor> frozen;
    for (const logic::GateLayer& layer : network.layers()) {
      Tensor own = Tensor::zeros({layer.mask.size()}, DType::float32);
      for (std::size_t i = 0; i < static_cast<std::size_t>(own.size()); i += 3) {
        own.mutable_values<float>()[i] = 1;
      }
      frozen.push_back(own);
    }
    for (const auto kind : {HardeningKind::none, HardeningKind::blend, HardeningKind::gates,
                            HardeningKind::straight_through, HardeningKind::temperature,
                            HardeningKind::noise, HardeningKind::freeze}) {
      for (const double share : {0.4, 1.0}) {
        SCOPED_TRACE(testing::Message()
                     << to_string(parametrisation) << ", " << to_string(kind) << " " << share);
        const NetworkStepArguments step{.hardening = {.kind = kind,
                                                      .share = share,
                                                      .logit_scale = 1 + 3 * share,
                                                      .noise = 0.7 * share,
                                                      .seed = 9,
                                                      .stream = 77,
                                                      .step = 5},
                                        .frozen = frozen};
        const NetworkSpec spec{.batch = 30,
                               .parametrisation = parametrisation,
                               .head = classes,
                               .label_smoothing = 0.1};
        expect_agreement(device(), network, spec, random_bits({image.bits(), 30}, 1), step, 2e-5);
      }
    }
  }
}

/// Outputs of a convolution that are summed without a layer of gates in between.
TEST_P(DeviceNetworkConvolutions, HeadsSumTheOutputsOfConvolutions) {
  for (const ConvolutionOptions& options :
       {ConvolutionOptions{.kernels = 5, .depth = 3, .pool = 2},
        ConvolutionOptions{.kernels = 5, .depth = 2, .pool = 1},
        ConvolutionOptions{.kernels = 5, .padding = 1, .depth = 1, .arity = 3, .pool = 3}}) {
    SCOPED_TRACE(name_of(options));
    for (const std::int64_t samples : {3, 130}) {
      expect_agreement(
          device(), network_of(options, Parametrisation::sigmoid, {}),
          {.batch = samples, .parametrisation = Parametrisation::sigmoid, .head = classes},
          shares({image.bits(), samples}, 1));
    }
  }
}

/// The kernels evaluate the same polynomials, so that scores have the same bits.
TEST_P(DeviceNetworkConvolutions, FusedKernelsComputeWhatLayersCompute) {
  for (const ConvolutionOptions& options : convolutions()) {
    SCOPED_TRACE(name_of(options));
    const logic::Network network = network_of(options, Parametrisation::sigmoid, {30, 20});
    const Tensor x = shares({image.bits(), 200}, 1);
    NetworkSpec spec{.batch = 200, .parametrisation = Parametrisation::sigmoid, .head = classes};
    const Tensor labels = labels_for(classes, 200);
    const auto fused = on_device(device(), network, spec);
    spec.fuses_convolutions = false;
    const auto plain = on_device(device(), network, spec);
    for (DeviceNetwork* program : {fused.get(), plain.get()}) {
      program->set_cases(DataRole::training, x, labels);
    }
    EXPECT_TRUE(same_bits(fused->evaluate().soft, plain->evaluate().soft));
    EXPECT_TRUE(same_bits(fused->evaluate().hard, plain->evaluate().hard));
    EXPECT_EQ(fused->gradients({}), plain->gradients({}));
    const std::vector<Tensor> gradients = fused->parameter_gradients();
    const std::vector<Tensor> expected = plain->parameter_gradients();
    ASSERT_EQ(gradients.size(), expected.size());
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      EXPECT_LT(largest_error(gradients[i], expected[i]), tolerance) << "layer " << i;
    }
    // The last layer is only summed.
    const std::vector<Tensor> outputs = fused->layer_outputs();
    EXPECT_EQ(outputs.size(), network_stages(logic::wires_of(network)).size() - 1);
    EXPECT_EQ(plain->layer_outputs().size(), network.layers().size() - 1);
    EXPECT_TRUE(same_bits(outputs.back(), plain->layer_outputs().back()));
  }
}

/// Candidates per leaf.
logic::Network network_with_learned_leaves(const ConvolutionOptions& options,
                                           Parametrisation parametrisation) {
  logic::Network network(image.bits(), parametrisation);
  ImageSize size = image;
  for (int convolution = 0; convolution < 2; ++convolution) {
    size = logic::add_convolution(network, size, options,
                                  {.initial = random_tables, .seed = 3, .candidates = 4});
  }
  network.add_layer({.gates = 20, .seed = 4, .initialisation = random_tables});
  return network;
}

void expect_near(const std::vector<Tensor>& received, const std::vector<Tensor>& expected,
                 double limit) {
  ASSERT_EQ(received.size(), expected.size());
  for (std::size_t i = 0; i < received.size(); ++i) {
    EXPECT_LT(largest_error(received[i], expected[i]), limit) << "parameter " << i;
  }
}

void expect_same_bits(const std::vector<Tensor>& some, const std::vector<Tensor>& others) {
  ASSERT_EQ(some.size(), others.size());
  for (std::size_t i = 0; i < some.size(); ++i) {
    EXPECT_TRUE(same_bits(some[i], others[i])) << "parameter " << i;
  }
}

/// Gradients, steps, evaluations and signals; the same bits in two runs; and new candidates.
TEST_P(DeviceNetworkConvolutions, LearnTheirLeavesAsOnTheCpu) {
  for (const auto forward : {WireForward::hard, WireForward::soft}) {
    for (const ConvolutionOptions& options :
         {ConvolutionOptions{.kernels = 4, .window = 3, .padding = 1, .depth = 2, .pool = 2},
          ConvolutionOptions{.kernels = 4, .window = 2, .depth = 1, .pool = 1},
          ConvolutionOptions{
              .kernels = 4, .window = 3, .padding = 1, .depth = 1, .arity = 3, .pool = 2}}) {
      for (const bool fuses : {false, true}) {
        SCOPED_TRACE(testing::Message() << (forward == WireForward::hard ? "hard, " : "soft, ")
                                        << (fuses ? "fused, " : "") << name_of(options));
        const logic::Network network =
            network_with_learned_leaves(options, Parametrisation::sigmoid);
        const NetworkSpec spec{.batch = 33,
                               .parametrisation = Parametrisation::sigmoid,
                               .head = classes,
                               .gradient_factor = 1.3,
                               .wire_forward = forward,
                               .fuses_convolutions = fuses};
        const auto there = on_device(device(), network, spec);
        const auto again = on_device(device(), network, spec);
        const auto host = logic::make_host_network(network, spec);
        const Tensor x = shares({image.bits(), 33}, 1);
        for (DeviceNetwork* program : {there.get(), again.get(), host.get()}) {
          program->set_cases(DataRole::training, x, labels_for(classes, 33));
        }
        const auto expect_same_step = [&](const NetworkStepArguments& step) {
          const double loss = host->gradients(step);
          EXPECT_NEAR(there->gradients(step), loss, 1e-5 * loss);
          expect_near(there->parameter_gradients(), host->parameter_gradients(), 1e-4);
          EXPECT_NEAR(there->step(step).loss, loss, 1e-5 * loss);
          again->step(step);
          host->step(step);
          expect_same_bits(there->parameters(), again->parameters());
        };
        for (std::int64_t i = 0; i < 3; ++i) {
          SCOPED_TRACE(testing::Message() << "step " << i);
          expect_same_step({.step = i,
                            .learning_rate = 0.02,
                            .wire_temperature = 1.5 - 0.3 * static_cast<double>(i)});
        }
        const auto expect_same_scores = [&] {
          const NetworkScores received = there->evaluate(0.6);
          const NetworkScores expected = host->evaluate(0.6);
          EXPECT_LT(largest_error(received.soft, expected.soft), 1e-4);
          EXPECT_TRUE(same_bits(received.hard, expected.hard));
        };
        expect_same_scores();
        const std::size_t second = network.layers().size() / 2;
        ASSERT_TRUE(network.layers()[second].learns_wires());
        for (const std::size_t layer : {std::size_t{0}, second}) {
          const NetworkStepArguments step{.wire_temperature = 0.8};
          const WireSignals received = there->wire_signals(step, layer);
          const WireSignals expected = host->wire_signals(step, layer);
          expect_near({received.inputs, received.slot_gradients},
                      {expected.inputs, expected.slot_gradients}, 1e-3);
        }
        const logic::CandidatesPtr other =
            logic::convolution_candidates(image, options, 4, /*seed=*/8, 0);
        for (DeviceNetwork* program : {there.get(), again.get(), host.get()}) {
          program->set_candidates(0, other->view());
        }
        expect_same_scores();
        expect_same_step({.step = 3, .learning_rate = 0.02, .wire_temperature = 0.6});
      }
    }
  }
}

/// Learned thresholds need the gradients of the inputs of the first convolution.
TEST_P(DeviceNetworkConvolutions, PassGradientsToThresholds) {
  std::vector<std::int32_t> sources;
  std::vector<float> thresholds;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(image.bits()); ++i) {
    sources.push_back(i % 42);
    thresholds.push_back(i < 42 ? 0.4F : 0.6F);
  }
  const std::vector<float> ranges(thresholds.size(), 1.0F);
  const Tensor features = shares({33, 42}, 1);
  for (const int arity : {2, 3}) {
    for (const bool fuses : {false, true}) {
      SCOPED_TRACE(testing::Message() << "arity " << arity << (fuses ? ", fused" : ""));
      const logic::Network network =
          network_of({.kernels = 4, .padding = 1, .depth = 2, .arity = arity, .pool = 2},
                     Parametrisation::sigmoid, {20});
      const NetworkSpec spec{.batch = 33,
                             .parametrisation = Parametrisation::sigmoid,
                             .head = classes,
                             .fuses_convolutions = fuses};
      const auto there = empty_on_device(device(), network, spec);
      const auto host = logic::make_host_network(network, spec);
      for (DeviceNetwork* program : {there.get(), host.get()}) {
        program->set_samples(DataRole::training,
                             {.features = features,
                              .sources = sources,
                              .thresholds = thresholds,
                              .height = image.height,
                              .width = image.width,
                              .ranges = ranges},
                             labels_for(classes, 33));
        load(*program, network, {Tensor::zeros({image.bits()}, DType::float32)});
      }
      const double loss = host->gradients({});
      EXPECT_NEAR(there->gradients({}), loss, 1e-5 * loss);
      expect_near(there->parameter_gradients(), host->parameter_gradients(), 1e-4);
    }
  }
}

/// Parameters and moments copied to another program continue the training.
TEST_P(DeviceNetworkConvolutions, ContinueFromParametersAndMoments) {
  for (const double clip_norm : {0.0, 0.5}) {
    const logic::Network network = network_of({.kernels = 4, .padding = 1, .depth = 3, .pool = 2},
                                              Parametrisation::softmax16, {30, 20});
    const auto make = [&] {
      auto made = on_device(device(), network,
                            {.batch = 40, .head = classes, .optimiser = {.clip_norm = clip_norm}});
      made->set_cases(DataRole::training, shares({image.bits(), 40}, 1), labels_for(classes, 40));
      return made;
    };
    const auto one = make();
    const auto other = make();
    for (std::int64_t step = 0; step < 3; ++step) one->step({.step = step, .learning_rate = 0.1});
    other->set_moments(one->first_moments(), one->second_moments());
    other->set_parameters(one->parameters(), logic::masks_of(network), network.input_mask());
    for (DeviceNetwork* program : {one.get(), other.get()}) {
      EXPECT_TRUE(program->step({.step = 3, .learning_rate = 0.1}).finite);
    }
    expect_same_bits(one->parameters(), other->parameters());
    expect_same_bits(one->first_moments(), other->first_moments());
    expect_same_bits(one->second_moments(), other->second_moments());
  }
}

TEST_P(DeviceNetworkConvolutions, SkipTheUpdateIfAGradientIsNotFinite) {
  for (const int arity : {2, 3}) {
    const logic::Network network =
        network_of({.kernels = 4, .padding = 1, .depth = 2, .arity = arity, .pool = 2},
                   Parametrisation::sigmoid, {20});
    const auto there =
        on_device(device(), network,
                  {.batch = 20, .parametrisation = Parametrisation::sigmoid, .head = classes});
    Tensor x = shares({image.bits(), 20}, 1);
    for (std::size_t i = 0; i < 20; ++i) {
      x.mutable_values<float>()[20 * i] = std::numeric_limits<float>::quiet_NaN();
    }
    there->set_cases(DataRole::training, x, labels_for(classes, 20));
    EXPECT_FALSE(there->step({.learning_rate = 0.1}).finite);
    expect_same_bits(there->parameters(), logic::detached(network.parameters()));
    there->set_cases(DataRole::training, shares({image.bits(), 20}, 1), labels_for(classes, 20));
    EXPECT_TRUE(there->step({.learning_rate = 0.1}).finite);
  }
}

/// Evaluation in batches, of more samples than fit into one.
TEST_P(DeviceNetworkConvolutions, EvaluateInBatches) {
  const logic::Network network = network_of({.kernels = 900, .padding = 1, .depth = 2, .pool = 1},
                                            Parametrisation::sigmoid, {20});
  const NetworkSpec spec{.batch = 16, .parametrisation = Parametrisation::sigmoid, .head = classes};
  const auto there = on_device(device(), network, spec);
  const Tensor x = random_bits({image.bits(), 1500}, 1);
  there->set_cases(DataRole::training, x, labels_for(classes, 1500));
  expect_same_scores(*there, network, x, spec, tolerance);
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceNetworkConvolutions, all_other_devices, name_of_device);

}  // namespace
}  // namespace boolgrad
