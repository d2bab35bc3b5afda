// Heads of networks on devices, compared with the CPU: votes on class bits, weights of outputs, and
// temperatures of steps. Skipped without a device.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "boolgrad/backend/device/capabilities.h"
#include "boolgrad/options/names.h"
#include "tests/backend/device_networks.h"
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

std::vector<Tensor> exponents_of(const NetworkSpec& spec) {
  if (spec.max_exponent == 0) return {};
  // Some lie outside of the limits.
  return {random_tensor({outputs}, DType::float32, 4, {.low = -0.7, .high = 3.7, .kinks = {}})};
}

NetworkSpec spec_of(const HeadCase& one) {
  NetworkSpec spec{
      .batch = one.samples,
      .head = Head{.kind = one.kind, .classes = 5, .temperature = 2.5, .low = 1.5, .high = 6},
      .label_smoothing = one.smoothing};
  if (one.weights == Weights::trained) spec.max_exponent = 3;
  if (one.weights == Weights::fixed) {
    for (std::int32_t i = 0; i < outputs; ++i) spec.head->exponents.push_back(i * 7 % 5);
  }
  return spec;
}

struct Programs {
  std::unique_ptr<DeviceNetwork> there;
  std::unique_ptr<DeviceNetwork> again;
  std::unique_ptr<DeviceNetwork> host;
};

Programs programs_for(const Device& device, const NetworkSpec& spec) {
  const logic::Network network =
      network_of({.inputs = 12, .widths = {50, outputs}, .samples = spec.batch});
  Programs programs{empty_on_device(device, network, spec), empty_on_device(device, network, spec),
                    logic::make_host_network(network, spec)};
  const Tensor x = shares({12, spec.batch}, 1);
  const Tensor labels = labels_for(*spec.head, spec.batch);
  for (DeviceNetwork* program : {programs.there.get(), programs.again.get(), programs.host.get()}) {
    program->set_cases(DataRole::training, x, labels);
    load(*program, network, exponents_of(spec));
  }
  return programs;
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

/// Losses, gradients, steps and scores, and the same bits in two runs.
void expect_agreement(const Device& device, const HeadCase& one) {
  const NetworkSpec spec = spec_of(one);
  SCOPED_TRACE(testing::Message() << to_string(one.kind) << ", weights "
                                  << static_cast<int>(one.weights) << ", " << one.samples
                                  << " samples, smoothing " << one.smoothing);
  const Programs programs = programs_for(device, spec);
  DeviceNetwork& there = *programs.there;
  DeviceNetwork& host = *programs.host;
  const double loss = host.gradients({});
  EXPECT_NEAR(there.gradients({}), loss, tolerance * loss);
  expect_near(there.parameter_gradients(), host.parameter_gradients(), 2 * tolerance);
  expect_same_scores(there, host);
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
  const std::vector<Tensor> parameters = there.parameters();
  const std::vector<Tensor> again = programs.again->parameters();
  ASSERT_EQ(parameters.size(), again.size());
  for (std::size_t i = 0; i < again.size(); ++i) EXPECT_TRUE(same_bits(parameters[i], again[i]));
}

constexpr auto kinds = {HeadKind::classes, HeadKind::binary, HeadKind::regression, HeadKind::bits};

TEST_P(DeviceHeads, VoteOnClassBitsAsTheCpuDoes) {
  if (!supports(device().backend, Feature::head_bits)) GTEST_SKIP();
  for (const std::int64_t samples : {1, 10, 133, 300}) {
    expect_agreement(device(), {HeadKind::bits, Weights::none, samples});
    expect_agreement(device(), {HeadKind::bits, Weights::none, samples, 0.1});
  }
}

TEST_P(DeviceHeads, WeighOutputsAsTheCpuDoes) {
  if (!supports(device().backend, Feature::head_weights)) GTEST_SKIP();
  for (const HeadKind kind : kinds) {
    for (const Weights weights : {Weights::fixed, Weights::trained}) {
      for (const std::int64_t samples : {1, 10, 133}) {
        expect_agreement(device(), {kind, weights, samples, 0.1});
      }
    }
  }
}

TEST_P(DeviceHeads, RoundExponentsAsTheCpuDoes) {
  if (!supports(device().backend, Feature::head_weights)) GTEST_SKIP();
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
  if (!supports(device().backend, Feature::adapted_temperature)) GTEST_SKIP();
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
