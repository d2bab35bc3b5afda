// Gate networks on devices, compared with the CPU: sizes, losses, arities, data and training steps.
// Skipped without a device.
#include "boolgrad/backend/device/network.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "boolgrad/ops/reduction.h"
#include "boolgrad/optim/adamw.h"
#include "boolgrad/optim/gradients.h"
#include "tests/backend/device_networks.h"
#include "tests/support/devices.h"
#include "tests/support/messages.h"

namespace boolgrad {
namespace {

using Scene = NetworkScene;

class DeviceNetworkTest : public DeviceTest {};

constexpr double tolerance = 1e-5;

/// Compares layer outputs, loss, gradients and scores, and checks that a second run gives the same
/// bits.
void expect_agreement(const Device& where, const logic::Network& network, const Scene& scene,
                      const LossOptions& loss = {}) {
  const Tensor x = shares({scene.inputs, scene.samples}, 1);
  const Tensor target = shares({network.outputs(), scene.samples}, 2);
  const NetworkSpec spec{
      .batch = scene.samples, .parametrisation = scene.parametrisation, .loss = loss};
  const auto device = on_device(where, network, spec);
  device->set_cases(DataRole::training, x, target);
  expect_same_gradients(*device, network, x, target, spec, {}, tolerance);
  const std::vector<Tensor> outputs = device->layer_outputs();
  const std::vector<Tensor> expected = in_float64(network).soft_layers(cast(x, DType::float64));
  ASSERT_EQ(outputs.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_LT(largest_error(outputs[i], expected[i].detach()), tolerance) << "layer " << i;
  }
  expect_same_scores(*device, network, x, spec, tolerance);
}

void expect_agreement(const Device& where, const Scene& scene, const LossOptions& loss = {}) {
  SCOPED_TRACE(testing::Message() << scene.samples << " samples, " << scene.widths.size()
                                  << " layers, arity " << scene.arities[0]);
  expect_agreement(where, network_of(scene), scene, loss);
}

TEST_P(DeviceNetworkTest, AgreesForOneGate) {
  expect_agreement(device(), Scene{.inputs = 2, .widths = {1}, .arities = {2}, .samples = 1});
  expect_agreement(device(), Scene{.inputs = 1, .widths = {1, 1}, .samples = 3});
}

TEST_P(DeviceNetworkTest, AgreesForAnyNumberOfSamples) {
  for (const std::int64_t samples :
       {1, 4, 5, 17, 33, 64, 65, 100, 127, 128, 129, 300, 1024, 2500}) {
    expect_agreement(
        device(),
        Scene{.inputs = 13, .widths = {37, 29, 5}, .arities = {2, 2, 2}, .samples = samples});
  }
}

TEST_P(DeviceNetworkTest, AgreesForWideLayers) {
  expect_agreement(
      device(),
      Scene{.inputs = 300, .widths = {1000, 1000, 400}, .arities = {2, 2, 2}, .samples = 100});
  expect_agreement(device(), Scene{.inputs = 2000, .widths = {3}, .arities = {2}, .samples = 40});
}

/// More work than fits into one submission on devices with short dispatches.
TEST_P(DeviceNetworkTest, AgreesForMoreThanOneSubmission) {
  expect_agreement(device(), Scene{.inputs = 20, .widths = {1000, 9}, .samples = 5000});
}

TEST_P(DeviceNetworkTest, AgreesForEveryArity) {
  for (const auto parametrisation : {Parametrisation::sigmoid, Parametrisation::walsh}) {
    for (int arity = 1; arity <= 6; ++arity) {
      for (const std::int64_t samples : {1, 31, 200}) {
        expect_agreement(device(), Scene{.inputs = 11,
                                         .widths = {23, 19, 7},
                                         .arities = {arity, arity, arity},
                                         .samples = samples,
                                         .parametrisation = parametrisation});
      }
    }
    expect_agreement(device(), Scene{.inputs = 9,
                                     .widths = {12, 10, 8, 6, 5, 4},
                                     .arities = {4, 2, 2, 6, 1, 3},
                                     .samples = 70,
                                     .parametrisation = parametrisation});
  }
}

TEST_P(DeviceNetworkTest, AgreesForEveryLoss) {
  for (const auto kind : {LossKind::squares, LossKind::l4, LossKind::bce, LossKind::focal}) {
    expect_agreement(device(), Scene{.inputs = 13, .widths = {37, 29}, .samples = 50},
                     {.kind = kind, .focal_gamma = 1.5});
  }
}

TEST_P(DeviceNetworkTest, AgreesForSharedInputsAndTheSameWireTwice) {
  const Scene scene{.inputs = 3, .widths = {6, 4}, .samples = 33};
  logic::Network network(scene.inputs, scene.parametrisation, DType::float32);
  const auto logits = [&](std::int64_t gates, std::uint32_t layer) {
    return logic::initial_logits(scene.parametrisation, gates, 2, DType::float32,
                                 {logic::Initialisation::gaussian, 1}, 9, layer);
  };
  const std::vector<std::int32_t> first{0, 0, 0, 1, 1, 2, 0, 1, 1, 1, 0, 2};
  const std::vector<std::int32_t> second{5, 5, 5, 5, 5, 0, 5, 0};
  network.add_layer(std::make_shared<const logic::Wiring>(3, Tensor::of(first, {2, 6})),
                    logits(6, 0));
  network.add_layer(std::make_shared<const logic::Wiring>(6, Tensor::of(second, {2, 4})),
                    logits(4, 1));
  expect_agreement(device(), network, scene);
}

TEST_P(DeviceNetworkTest, MaskedGatesHaveZeroGradients) {
  for (const auto parametrisation :
       {Parametrisation::softmax16, Parametrisation::sigmoid, Parametrisation::walsh}) {
    const Scene scene{
        .inputs = 6, .widths = {20, 9}, .samples = 40, .parametrisation = parametrisation};
    logic::Network network = network_of(scene);
    Tensor mask = Tensor::ones({20}, DType::float32);
    for (const std::size_t gate : {0U, 7U, 19U}) mask.mutable_values<float>()[gate] = 0;
    network.set_mask(0, mask);
    Tensor input_mask = Tensor::ones({6}, DType::float32);
    input_mask.mutable_values<float>()[2] = 0;
    network.set_input_mask(input_mask);
    expect_agreement(device(), network, scene);

    const auto there =
        on_device(device(), network, {.batch = scene.samples, .parametrisation = parametrisation});
    there->set_cases(DataRole::training, shares({6, 40}, 1), shares({9, 40}, 2));
    there->gradients({});
    const Tensor gradient = there->parameter_gradients()[0];
    const std::int64_t per_gate = gradient.shape()[1];
    for (const std::int64_t gate : {0, 7, 19}) {
      for (std::int64_t k = 0; k < per_gate; ++k) EXPECT_EQ(gradient.at(gate * per_gate + k), 0);
    }
  }
}

/// AdamW steps on the CPU and on the device, from the same parameters and samples.
void expect_same_training(const Device& where, const AdamWOptions& options, bool in_order) {
  const Scene scene{.inputs = 10, .widths = {60, 40, 6}, .arities = {2, 2, 2}, .samples = 48};
  const logic::Network network = network_of(scene);
  const std::int64_t batch = in_order ? scene.samples : 20;
  const auto device = on_device(where, network, {.batch = batch, .optimiser = options});
  const Tensor x = shares({scene.inputs, scene.samples}, 1);
  const Tensor target = shares({6, scene.samples}, 2);
  device->set_cases(DataRole::training, x, target);
  AdamW adamw(network.parameters(), {.beta1 = options.beta1,
                                     .beta2 = options.beta2,
                                     .epsilon = options.epsilon,
                                     .weight_decay = options.weight_decay});
  for (std::int64_t step = 0; step < 20; ++step) {
    std::vector<std::int64_t> picked;
    std::vector<Tensor> chosen_x;
    std::vector<Tensor> chosen_target;
    for (std::int64_t i = 0; i < batch; ++i) {
      const std::int64_t at = in_order ? i : (step * batch + i * 7) % scene.samples;
      picked.push_back(at);
      chosen_x.push_back(reshape(slice(x, 1, at, at + 1), {scene.inputs}));
      chosen_target.push_back(reshape(slice(target, 1, at, at + 1), {6}));
    }
    const Tensor batch_x = stack(chosen_x, 1);
    const Tensor loss = sum_of_squares(network.soft(batch_x), stack(chosen_target, 1));
    std::vector<Tensor> gradients = grad(loss, network.parameters());
    if (options.clip_value > 0) gradients = clip_by_value(gradients, options.clip_value);
    if (options.clip_norm > 0) gradients = clip_by_norm(gradients, options.clip_norm);
    gradients = with_noise(gradients, options.gradient_noise, options.seed,
                           static_cast<std::uint32_t>(step));
    adamw.step(gradients, 0.02);
    if (in_order) picked.clear();
    const StepResult taken = device->step({.step = step, .learning_rate = 0.02, .samples = picked});
    EXPECT_TRUE(taken.finite);
    EXPECT_NEAR(taken.loss, loss.item(), 1e-4 * loss.item()) << "step " << step;
  }
  const std::vector<Tensor> logits = device->parameters();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    EXPECT_LT(largest_error(logits[i], network.parameters()[i].detach()), 1e-2) << "layer " << i;
  }
}

TEST_P(DeviceNetworkTest, TrainsAsTheCpuDoes) {
  expect_same_training(device(), {.weight_decay = 0.01}, true);
  expect_same_training(device(), {.clip_value = 0.05}, false);
  expect_same_training(device(), {.clip_norm = 0.5}, true);
  expect_same_training(device(), {.gradient_noise = 0.01, .seed = 4}, false);
}

TEST_P(DeviceNetworkTest, SkipsTheUpdateIfAGradientIsNotFinite) {
  const Scene scene{.inputs = 10, .widths = {60, 6}, .samples = 20};
  const logic::Network network = network_of(scene);
  for (const double clip_norm : {0.0, 1.0}) {
    const auto there =
        on_device(device(), network, {.batch = 20, .optimiser = {.clip_norm = clip_norm}});
    Tensor x = shares({10, 20}, 1);
    x.mutable_values<float>()[3] = std::numeric_limits<float>::quiet_NaN();
    there->set_cases(DataRole::training, x, shares({6, 20}, 2));
    EXPECT_FALSE(there->step({.learning_rate = 0.1}).finite);
    const std::vector<Tensor> after = there->parameters();
    for (std::size_t i = 0; i < after.size(); ++i) {
      EXPECT_TRUE(same_bits(after[i], network.parameters()[i].detach()));
    }
    there->set_cases(DataRole::training, shares({10, 20}, 1), shares({6, 20}, 2));
    EXPECT_TRUE(there->step({.learning_rate = 0.1}).finite);
  }
}

/// Parameters and moments copied to another program continue the training.
TEST_P(DeviceNetworkTest, ContinuesFromParametersAndMoments) {
  const Scene scene{.inputs = 6, .widths = {20, 9}, .samples = 40};
  const logic::Network network = network_of(scene);
  const auto make = [&] {
    auto made = on_device(device(), network, {.batch = scene.samples});
    made->set_cases(DataRole::training, shares({6, 40}, 1), shares({9, 40}, 2));
    return made;
  };
  const auto one = make();
  const auto other = make();
  for (std::int64_t step = 0; step < 3; ++step) one->step({.step = step, .learning_rate = 0.1});
  other->set_moments(one->first_moments(), one->second_moments());
  const std::vector<Tensor> masks{Tensor::ones({20}, DType::float32),
                                  Tensor::ones({9}, DType::float32)};
  other->set_parameters(one->parameters(), masks, Tensor::ones({6}, DType::float32));
  for (const auto& either : {one.get(), other.get()})
    either->step({.step = 3, .learning_rate = 0.1});
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(same_bits(one->parameters()[i], other->parameters()[i])) << "layer " << i;
    EXPECT_TRUE(same_bits(one->first_moments()[i], other->first_moments()[i])) << "layer " << i;
    EXPECT_TRUE(same_bits(one->second_moments()[i], other->second_moments()[i])) << "layer " << i;
  }
}

/// Soft and hard outputs of all samples.
void expect_same_evaluation(const Device& where, const Scene& scene) {
  const logic::Network network = network_of(scene);
  const NetworkSpec spec{.batch = 16};
  const auto device = on_device(where, network, spec);
  const OpDomain any{.low = 0, .high = 1, .kinks = {}};
  const Tensor x = random_tensor({scene.inputs, scene.samples}, DType::float32, 1, any);
  device->set_cases(DataRole::training, x, shares({network.outputs(), scene.samples}, 2));
  expect_same_scores(*device, network, x, spec, tolerance);
}

TEST_P(DeviceNetworkTest, EvaluatesAsTheCpuDoes) {
  expect_same_evaluation(device(), {.inputs = 9, .widths = {50, 4}, .samples = 500});
}

/// A network too wide to evaluate all samples in one batch.
TEST_P(DeviceNetworkTest, EvaluatesInBatches) {
  expect_same_evaluation(device(), {.inputs = 9, .widths = {20'000, 4}, .samples = 3'500});
}

/// Evaluation uses its own data with the current parameters and does not disturb training.
TEST_P(DeviceNetworkTest, KeepsTrainingAndEvaluationDataSeparate) {
  const Scene scene{.inputs = 6, .widths = {20, 9}, .samples = 40};
  logic::Network network = network_of(scene);
  const NetworkSpec spec{.batch = scene.samples};
  const auto make = [&] {
    auto made = on_device(device(), network, spec);
    made->set_cases(DataRole::training, shares({6, 40}, 1), shares({9, 40}, 2));
    return made;
  };
  const auto plain = make();
  const auto evaluated = make();
  const Tensor x = shares({6, 70}, 7);
  evaluated->set_cases(DataRole::evaluation, x, shares({9, 70}, 8));
  for (std::int64_t step = 0; step < 3; ++step) {
    const NetworkStepArguments now{
        .step = step, .learning_rate = 0.1, .hardening = {HardeningKind::blend, 0.5}};
    EXPECT_EQ(plain->step(now).loss, evaluated->step(now).loss);
    const std::vector<Tensor> parameters = evaluated->parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      Tensor logits = network.parameters()[i].detach();
      std::ranges::copy(parameters[i].values<float>(), logits.mutable_values<float>().begin());
    }
    expect_same_scores(*evaluated, network, x, spec, tolerance);
  }
}

TEST_P(DeviceNetworkTest, RejectsInvalidArguments) {
  const Scene scene{.inputs = 3, .widths = {6, 4}, .samples = 5};
  const logic::Network network = network_of(scene);
  const auto there = on_device(device(), network, {.batch = 5});
  const auto refuses = [&](const std::function<void()>& action, const std::string& message) {
    expect_error(action, "[" + to_string(device()) + "] expected " + message);
  };
  const auto set_cases = [&](const Tensor& x, const Tensor& targets) {
    there->set_cases(DataRole::training, x, targets);
  };
  refuses([&] { there->gradients({}); }, "training samples, received none");
  refuses(
      [&] {
        set_cases(shares({2, 5}, 1), shares({4, 5}, 2));
      },
      "inputs [3, samples] and targets [4, 5], received [2, 5] and [4, 5]");
  refuses(
      [&] {
        set_cases(shares({3, 5}, 1), shares({4, 6}, 2));
      },
      "inputs [3, samples] and targets [4, 5], received [3, 5] and [4, 6]");
  set_cases(shares({3, 5}, 1), shares({4, 5}, 2));
  const std::vector<std::int64_t> few{0, 1};
  const std::vector<std::int64_t> far{0, 1, 2, 3, 5};
  refuses([&] { there->gradients({.samples = few}); }, "5 samples, received 2");
  refuses([&] { there->gradients({.samples = far}); }, "sample indices below 5, received 5");
  const std::vector<Tensor> logits = there->parameters();
  const std::vector<Tensor> masks{Tensor::ones({6}, DType::float32),
                                  Tensor::ones({5}, DType::float32)};
  refuses([&] { there->set_parameters(logits, masks, Tensor::ones({3}, DType::float32)); },
          "a mask of 4 gates, received 5");
  refuses([&] { there->set_moments(logits, {}); }, "2 parameters, received 0");
  refuses([&] { on_device(device(), network, {.batch = 5, .head = Head{.classes = 3}}); },
          "outputs in 3 equal groups, received 4");
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceNetworkTest, all_other_devices, name_of_device);

}  // namespace
}  // namespace boolgrad
