// Heads of networks on devices, compared with the CPU: votes on class bits, weights of outputs, and
// temperatures of steps. Skipped without a device.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "boolgrad/options/names.h"
#include "tests/backend/device_networks.h"
#include "tests/support/convolution_networks.h"
#include "tests/support/devices.h"
#include "tests/support/messages.h"

namespace boolgrad {
namespace {

class DeviceHeads : public DeviceTest {};

constexpr double tolerance = 1e-5;
constexpr std::int64_t outputs = 60;

/// How outputs are weighted.
enum class Weights : std::uint8_t { none, fixed, trained };

struct HeadCase {
  HeadKind kind;
  Weights weights;
  std::int64_t samples;
  double smoothing = 0;
};

/// Some lie outside of the limits.
std::vector<Tensor> exponents_of(const NetworkSpec& spec, std::int64_t count = outputs) {
  if (spec.max_exponent == 0) return {};
  return {random_tensor({count}, DType::float32, 4, {.low = -0.7, .high = 3.7, .kinks = {}})};
}

NetworkSpec spec_of(const HeadCase& one, std::int64_t count = outputs) {
  NetworkSpec spec{
      .batch = one.samples,
      .head = Head{.kind = one.kind, .classes = 5, .temperature = 2.5, .low = 1.5, .high = 6},
      .label_smoothing = one.smoothing};
  if (one.weights == Weights::trained) spec.max_exponent = 3;
  if (one.weights == Weights::fixed) {
    for (std::int32_t i = 0; i < count; ++i) spec.head->exponents.push_back(i * 7 % 5);
  }
  return spec;
}

struct Programs {
  std::unique_ptr<DeviceNetwork> there;
  std::unique_ptr<DeviceNetwork> again;
  std::unique_ptr<DeviceNetwork> host;
};

Programs empty_programs(const Device& device, const logic::Network& network,
                        const NetworkSpec& spec) {
  return {empty_on_device(device, network, spec), empty_on_device(device, network, spec),
          logic::make_host_network(network, spec)};
}

Programs programs_for(const Device& device, const logic::Network& network,
                      const NetworkSpec& spec) {
  Programs programs = empty_programs(device, network, spec);
  const Tensor x = shares({network.inputs(), spec.batch}, 1);
  const Tensor labels = labels_for(*spec.head, spec.batch);
  for (DeviceNetwork* program : {programs.there.get(), programs.again.get(), programs.host.get()}) {
    program->set_cases(DataRole::training, x, labels);
    load(*program, network, exponents_of(spec, network.outputs()));
  }
  return programs;
}

Programs programs_for(const Device& device, const NetworkSpec& spec) {
  return programs_for(
      device, network_of({.inputs = 12, .widths = {50, outputs}, .samples = spec.batch}), spec);
}

void expect_near(const std::vector<Tensor>& received, const std::vector<Tensor>& expected,
                 double limit) {
  ASSERT_EQ(received.size(), expected.size());
  for (std::size_t i = 0; i < received.size(); ++i) {
    EXPECT_LT(largest_error(received[i], expected[i]), limit) << "parameter " << i;
  }
}

void expect_same_scores(DeviceNetwork& there, DeviceNetwork& host) {
  const NetworkScores received = there.evaluate();
  const NetworkScores expected = host.evaluate();
  EXPECT_LT(largest_error(received.soft, expected.soft), tolerance);
  EXPECT_TRUE(same_bits(received.hard, expected.hard));
}

void expect_same_bits(const std::vector<Tensor>& some, const std::vector<Tensor>& others) {
  ASSERT_EQ(some.size(), others.size());
  for (std::size_t i = 0; i < some.size(); ++i) {
    EXPECT_TRUE(same_bits(some[i], others[i])) << "parameter " << i;
  }
}

/// Losses, gradients and scores, and the same bits in two runs.
void expect_same_gradients(const Programs& programs) {
  const double loss = programs.host->gradients({});
  EXPECT_NEAR(programs.there->gradients({}), loss, tolerance * loss);
  const std::vector<Tensor> gradients = programs.there->parameter_gradients();
  expect_near(gradients, programs.host->parameter_gradients(), 2 * tolerance);
  expect_same_scores(*programs.there, *programs.host);
  programs.again->gradients({});
  expect_same_bits(gradients, programs.again->parameter_gradients());
}

/// The same, then steps.
void expect_same_training(const Programs& programs) {
  DeviceNetwork& there = *programs.there;
  DeviceNetwork& host = *programs.host;
  expect_same_gradients(programs);
  const double loss = host.gradients({});
  for (std::int64_t i = 0; i < 4; ++i) {
    const NetworkStepArguments step{.step = i, .learning_rate = 0.02};
    const StepResult taken = there.step(step);
    EXPECT_TRUE(taken.finite);
    EXPECT_NEAR(taken.loss, host.step(step).loss, 1e-4 * loss);
    EXPECT_EQ(taken.sum_deviation, 0);
    EXPECT_EQ(programs.again->step(step).loss, taken.loss);
  }
  expect_near(there.parameters(), host.parameters(), 1e-3);
  expect_near(there.first_moments(), host.first_moments(), 1e-3);
  expect_same_scores(there, host);
  expect_same_bits(there.parameters(), programs.again->parameters());
}

std::string name_of(const HeadCase& one) {
  return std::string(to_string(one.kind)) + ", weights " +
         std::to_string(static_cast<int>(one.weights)) + ", " + std::to_string(one.samples) +
         " samples, smoothing " + std::to_string(one.smoothing);
}

void expect_agreement(const Device& device, const HeadCase& one) {
  SCOPED_TRACE(name_of(one));
  expect_same_training(programs_for(device, spec_of(one)));
}

constexpr auto kinds = {HeadKind::classes, HeadKind::binary, HeadKind::regression, HeadKind::bits};

TEST_P(DeviceHeads, VoteOnClassBitsAsTheCpuDoes) {
  for (const std::int64_t samples : {1, 10, 133, 300}) {
    expect_agreement(device(), {HeadKind::bits, Weights::none, samples});
    expect_agreement(device(), {HeadKind::bits, Weights::none, samples, 0.1});
  }
}

TEST_P(DeviceHeads, WeighOutputsAsTheCpuDoes) {
  for (const HeadKind kind : kinds) {
    for (const Weights weights : {Weights::fixed, Weights::trained}) {
      for (const std::int64_t samples : {1, 10, 133}) {
        expect_agreement(device(), {kind, weights, samples, 0.1});
      }
    }
  }
}

/// Outputs of trees, of pooling, and of gates of three inputs.
TEST_P(DeviceHeads, WeighOutputsOfConvolutionsAsTheCpuDoes) {
  const logic::ImageSize image{.channels = 2, .height = 7, .width = 6};
  for (const logic::ConvolutionOptions& options :
       {logic::ConvolutionOptions{.kernels = 5, .window = 3, .depth = 3, .pool = 2},
        logic::ConvolutionOptions{.kernels = 5, .window = 3, .depth = 1, .arity = 3, .pool = 2},
        logic::ConvolutionOptions{.kernels = 5, .window = 3, .depth = 1, .arity = 3, .pool = 1}}) {
    logic::Network network(image.bits(), Parametrisation::sigmoid);
    add_convolution(network, image, options, 3);
    for (const HeadKind kind : {HeadKind::classes, HeadKind::regression}) {
      for (const Weights weights : {Weights::fixed, Weights::trained}) {
        const HeadCase one{kind, weights, 133};
        NetworkSpec spec = spec_of(one, network.outputs());
        spec.parametrisation = Parametrisation::sigmoid;
        for (const bool fuses : {false, true}) {
          SCOPED_TRACE(testing::Message() << name_of(one) << ", arity " << options.arity
                                          << (fuses ? ", fused" : ", layer by layer"));
          spec.fuses_convolutions = fuses;
          expect_same_gradients(programs_for(device(), network, spec));
        }
      }
    }
  }
}

/// The exponents are the last parameter; clipping and noise treat them like all others.
TEST_P(DeviceHeads, WeighOutputsNextToLearnedWiresAndThresholds) {
  constexpr std::int64_t features = 12;
  logic::Network network(features, Parametrisation::softmax16);
  for (const std::int64_t gates : {std::int64_t{50}, outputs}) {
    network.add_layer(
        {.gates = gates, .candidates = 4, .seed = 7, .initialisation = random_tables});
  }
  std::vector<std::int32_t> sources;
  for (std::int32_t i = 0; i < features; ++i) sources.push_back(i);
  const std::vector<float> thresholds(features, 0.5F);
  const std::vector<float> ranges(features, 0.9F);
  for (const AdamWOptions& optimiser :
       {AdamWOptions{}, AdamWOptions{.clip_value = 0.002}, AdamWOptions{.clip_norm = 0.004},
        AdamWOptions{.clip_norm = 0.004, .gradient_noise = 0.01}}) {
    SCOPED_TRACE(testing::Message()
                 << "clipped to " << optimiser.clip_value << " and " << optimiser.clip_norm
                 << ", noise " << optimiser.gradient_noise);
    NetworkSpec spec = spec_of({HeadKind::classes, Weights::trained, 40});
    spec.optimiser = optimiser;
    const Programs programs = empty_programs(device(), network, spec);
    const Tensor labels = labels_for(*spec.head, 40);
    for (DeviceNetwork* program :
         {programs.there.get(), programs.again.get(), programs.host.get()}) {
      program->set_samples(DataRole::training,
                           {.features = shares({40, features}, 1),
                            .sources = sources,
                            .thresholds = thresholds,
                            .ranges = ranges},
                           labels);
      load(*program, network,
           {random_tensor({features}, DType::float32, 3, {.low = -0.2, .high = 0.2, .kinks = {}}),
            exponents_of(spec)[0]});
    }
    expect_same_training(programs);
    EXPECT_EQ(programs.there->parameters().back().shape(), Shape{outputs});
  }
}

TEST_P(DeviceHeads, RoundExponentsAsTheCpuDoes) {
  const NetworkSpec spec = spec_of({HeadKind::classes, Weights::trained, 20});
  const Programs programs = programs_for(device(), spec);
  std::vector<Tensor> parameters = programs.host->parameters();
  // The largest float below 0.5 must not be rounded up.
  const std::vector<float> values = {0.5F, 0.49999997F, 1.5F, 2.4999998F, 2.5F, -0.0F, 3, 9, -9};
  const auto exponents = parameters.back().mutable_values<float>();
  for (std::size_t i = 0; i < exponents.size(); ++i) exponents[i] = values[i % values.size()];
  const std::vector<Tensor> masks = {Tensor::ones({50}, DType::float32),
                                     Tensor::ones({outputs}, DType::float32)};
  for (DeviceNetwork* program : {programs.there.get(), programs.host.get()}) {
    program->set_parameters(parameters, masks, Tensor::ones({12}, DType::float32));
  }
  expect_same_scores(*programs.there, *programs.host);
  programs.there->gradients({});
  programs.host->gradients({});
  expect_near(programs.there->parameter_gradients(), programs.host->parameter_gradients(),
              2 * tolerance);
}

/// A step with a temperature of its own reports the deviation of the sums; others are not affected.
TEST_P(DeviceHeads, TakeTemperaturesOfStepsAsTheCpuDoes) {
  for (const Weights weights : {Weights::none, Weights::trained}) {
    for (const std::int64_t samples : {1, 50, 133, 400}) {
      SCOPED_TRACE(samples);
      const Programs programs =
          programs_for(device(), spec_of({HeadKind::classes, weights, samples}));
      for (std::int64_t i = 0; i < 5; ++i) {
        NetworkStepArguments step{.step = i, .learning_rate = 0.02};
        if (i != 2) step.head_temperature = 1.5 + static_cast<double>(i);
        const StepResult taken = programs.there->step(step);
        const StepResult expected = programs.host->step(step);
        EXPECT_NEAR(taken.loss, expected.loss, 1e-4 * expected.loss);
        if (i == 2) continue;
        EXPECT_NEAR(taken.sum_deviation, expected.sum_deviation, 1e-4 * expected.sum_deviation);
        EXPECT_EQ(programs.again->step(step).sum_deviation, taken.sum_deviation);
        if (i == 1) programs.again->step({.step = 2, .learning_rate = 0.02});
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceHeads, all_other_devices, name_of_device);

}  // namespace
}  // namespace boolgrad
