#include "boolgrad/logic/host_network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "boolgrad/autograd/gradcheck.h"
#include "boolgrad/autograd/tape.h"
#include "boolgrad/logic/hardening.h"
#include "boolgrad/logic/head.h"
#include "boolgrad/ops/loss.h"
#include "boolgrad/ops/shaping.h"
#include "tests/support/random_tensor.h"

namespace boolgrad::logic {
namespace {

constexpr std::int64_t inputs = 6;
constexpr std::int64_t outputs = 4;

/// Three layers of two-input gates.
Network network_of(Parametrisation parametrisation, DType dtype = DType::float64) {
  Network network(inputs, parametrisation, dtype);
  std::int64_t width = inputs;
  std::uint32_t layer = 0;
  for (const std::int64_t gates : {std::int64_t{30}, std::int64_t{20}, outputs}) {
    const Shape shape{gates, logit_count(parametrisation, 2)};
    network.add_layer(random_wiring({width, gates, 2}, 1, layer),
                      random_tensor(shape, dtype, 10 + layer, {-1, 1}));
    width = gates;
    ++layer;
  }
  return network;
}

constexpr Parametrisation every_parametrisation[] = {
    Parametrisation::softmax16, Parametrisation::sigmoid, Parametrisation::walsh};

struct Cases {
  Tensor inputs;
  Tensor targets;
};

Cases soft_cases(std::int64_t count) {
  return {random_tensor({inputs, count}, DType::float64, 1, {0, 1}),
          random_tensor({outputs, count}, DType::float64, 2, {0, 1})};
}

std::unique_ptr<DeviceNetwork> program_of(const Network& network, const Cases& cases,
                                          double gradient_factor = 1) {
  auto program = make_host_network(network, {.batch = cases.inputs.shape()[1],
                                             .parametrisation = network.parametrisation(),
                                             .gradient_factor = gradient_factor});
  program->set_cases(DataRole::training, cases.inputs, cases.targets);
  return program;
}

TEST(HostNetwork, ComputesTheLossAndGradientsOfTheTape) {
  const Cases cases = soft_cases(15);
  for (const Parametrisation parametrisation : every_parametrisation) {
    const Network network = network_of(parametrisation);
    const Tensor loss = sum_of_squares(network.soft(cases.inputs), cases.targets);
    const std::vector<Tensor> expected = grad(loss, network.parameters());
    const auto program = program_of(network, cases);
    EXPECT_EQ(program->gradients({}), loss.item());
    const std::vector<Tensor> received = program->parameter_gradients();
    ASSERT_EQ(received.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(same_bits(received[i], expected[i])) << "layer " << i;
    }
    EXPECT_EQ(program_of(network, cases, 2)->gradients({}), loss.item())
        << "a gradient factor must not change outputs";
  }
}

TEST(HostNetwork, TrainsTheLogitsOfItsNetwork) {
  const Network network = network_of(Parametrisation::sigmoid);
  const Tensor before = network.parameters()[0].detach().clone();
  const auto program = program_of(network, soft_cases(15));
  EXPECT_TRUE(program->step({.learning_rate = 0.1}).finite);
  EXPECT_FALSE(same_bits(network.parameters()[0].detach(), before));
  EXPECT_TRUE(same_bits(network.parameters()[0].detach(), program->parameters()[0]));
}

TEST(HostNetwork, HardenedLogitsPassGradcheck) {
  for (const Parametrisation parametrisation : every_parametrisation) {
    for (const auto kind :
         {HardeningKind::none, HardeningKind::noise, HardeningKind::temperature}) {
      const HardeningStep step{
          .kind = kind, .share = 0.5, .logit_scale = 3, .noise = 0.5, .seed = 1, .step = 3};
      const Network network = network_of(parametrisation);
      std::vector<Tensor> values{random_tensor({inputs, 4}, DType::float64, 1, {0.1, 0.9})};
      for (const Tensor& logits : network.parameters()) values.push_back(logits.detach());
      const GradcheckResult result = gradcheck(
          [&](std::span<const Tensor> in) {
            const std::vector<Tensor> logits(in.begin() + 1, in.end());
            return network.soft(in[0],
                                network.tables(hardened_logits(step, logits, parametrisation)));
          },
          values);
      EXPECT_TRUE(result.pass) << static_cast<int>(parametrisation) << ": " << result.describe();
    }
  }
}

// The gradient of layer i of n is scaled by f^(n - i).
TEST(HostNetwork, ScalesGradientsLayerByLayer) {
  const Cases cases = soft_cases(15);
  for (const Parametrisation parametrisation : every_parametrisation) {
    const Network network = network_of(parametrisation);
    const auto gradients = [&](double factor) {
      const auto program = program_of(network, cases, factor);
      program->gradients({});
      return program->parameter_gradients();
    };
    const std::vector<Tensor> before = gradients(1);
    const std::vector<Tensor> after = gradients(1.5);
    const double factors[] = {1.5 * 1.5, 1.5, 1};
    for (std::size_t i = 0; i < before.size(); ++i) {
      for (std::int64_t k = 0; k < before[i].size(); ++k) {
        ASSERT_NEAR(after[i].at(k), factors[i] * before[i].at(k), 1e-12) << "layer " << i;
      }
    }
  }
}

// The gradient of the inputs, and so of learned thresholds, is scaled by f^n.
TEST(HostNetwork, ScalesGradientsOfThresholds) {
  const Network network = network_of(Parametrisation::sigmoid, DType::float32);
  const std::vector<std::int32_t> sources = {0, 1, 2, 0, 1, 2};
  const std::vector<float> thresholds = {0.3F, 0.4F, 0.5F, 0.6F, 0.7F, 0.8F};
  const std::vector<float> ranges(6, 1.0F);
  const Tensor features = random_tensor({40, 3}, DType::float32, 4, {0, 1});
  std::vector<std::int32_t> classes(40);
  for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<std::int32_t>(i % 2);
  const auto gradient = [&](double factor) {
    const auto program = make_host_network(network, {.batch = 40,
                                                     .parametrisation = Parametrisation::sigmoid,
                                                     .head = Head{.classes = 2},
                                                     .gradient_factor = factor});
    program->set_samples(
        DataRole::training,
        {.features = features, .sources = sources, .thresholds = thresholds, .ranges = ranges},
        Tensor::of(classes));
    program->gradients({});
    return program->parameter_gradients().back();
  };
  const Tensor before = gradient(1);
  const Tensor after = gradient(1.5);
  ASSERT_EQ(before.shape(), (Shape{6}));
  for (std::int64_t i = 0; i < 6; ++i) {
    EXPECT_NE(before.at(i), 0) << i;
    EXPECT_NEAR(after.at(i), std::pow(1.5, 3) * before.at(i), 1e-5 * std::abs(after.at(i))) << i;
  }
}

TEST(HostNetwork, AStepMayReplaceTheTemperatureOfTheHead) {
  const Tensor x = random_tensor({inputs, 40}, DType::float64, 4, {0, 1});
  std::vector<std::int32_t> classes(40);
  for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<std::int32_t>(i % 2);
  const auto step_at = [&](double own, std::optional<double> given) {
    const Network network = network_of(Parametrisation::sigmoid);
    const auto program =
        make_host_network(network, {.batch = 40,
                                    .parametrisation = Parametrisation::sigmoid,
                                    .head = Head{.classes = 2, .temperature = own}});
    program->set_cases(DataRole::training, x, Tensor::of(classes));
    const double deviation = standard_deviation(program->evaluate().soft);
    const StepResult result = program->step({.head_temperature = given});
    EXPECT_NEAR(result.sum_deviation, given ? deviation : 0, 1e-9);
    return result.loss;
  };
  EXPECT_EQ(step_at(3, {}), step_at(8, 3));
  EXPECT_NE(step_at(3, {}), step_at(3, 8));
}

TEST(HostNetwork, StraightThroughComputesTheHardenedCircuit) {
  const Tensor bits = unpack_bits(pack_bits(random_tensor({inputs, 70}, DType::float64, 1, {0, 1})),
                                  DType::float64);
  const Tensor targets = random_tensor({outputs, 70}, DType::float64, 2, {0, 1});
  for (const Parametrisation parametrisation : every_parametrisation) {
    Network network = network_of(parametrisation);
    Tensor mask = Tensor::ones({30}, DType::float64);
    mask.mutable_values<double>()[4] = 0;
    network.set_mask(0, mask);
    const Tensor hard = unpack_bits(network.hard(pack_bits(bits)), DType::float64);
    const double loss =
        program_of(network, {bits, targets})
            ->gradients({.hardening = {.kind = HardeningKind::straight_through, .share = 1}});
    EXPECT_NEAR(loss, sum_of_squares(hard, targets).item(), 1e-9);
  }
}

TEST(HostNetwork, NoiseDependsOnSeedAndStep) {
  const Network network = network_of(Parametrisation::sigmoid);
  const auto program = program_of(network, soft_cases(15));
  const auto loss = [&](std::uint64_t seed, std::uint32_t step) {
    return program->gradients(
        {.hardening = {
             .kind = HardeningKind::noise, .share = 1, .noise = 1, .seed = seed, .step = step}});
  };
  EXPECT_EQ(loss(1, 4), loss(1, 4));
  EXPECT_NE(loss(1, 4), loss(1, 5));
  EXPECT_NE(loss(1, 4), loss(2, 4));
}

}  // namespace
}  // namespace boolgrad::logic
