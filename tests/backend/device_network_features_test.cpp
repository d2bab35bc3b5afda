// What training of gate networks on devices can do, against the tape: hardening, heads, learned
// thresholds. Skipped where there is no device.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "boolgrad/logic/thresholds.h"
#include "boolgrad/ops/matrix.h"
#include "boolgrad/optim/adamw.h"
#include "boolgrad/optim/gradients.h"
#include "tests/backend/device_networks.h"
#include "tests/support/devices.h"
#include "tests/support/messages.h"

namespace boolgrad {
namespace {

using Scene = NetworkScene;

class DeviceNetworkFeatures : public DeviceTest {};

constexpr double tolerance = 1e-5;

constexpr auto parametrisations = {Parametrisation::softmax16, Parametrisation::sigmoid,
                                   Parametrisation::walsh};

/// Every third gate.
std::vector<Tensor> some_frozen(const LogicNetwork& network) {
  std::vector<Tensor> layers;
  for (const LogicLayer& layer : network.layers()) {
    Tensor frozen = Tensor::zeros({layer.mask.size()}, DType::float32);
    for (std::size_t gate = 0; gate < static_cast<std::size_t>(frozen.size()); gate += 3) {
      frozen.mutable_values<float>()[gate] = 1;
    }
    layers.push_back(frozen);
  }
  return layers;
}

HardeningStep step_of(HardeningKind kind, double share) {
  return {.kind = kind,
          .share = share,
          .logit_scale = 1 + 3 * share,
          .noise = 0.7 * share,
          .seed = 0x123456789abULL,
          .stream = 77,
          .step = 5};
}

bool is_zero(const Tensor& gradients, std::int64_t gate) {
  const std::int64_t per_gate = gradients.shape()[1];
  for (std::int64_t k = 0; k < per_gate; ++k) {
    if (gradients.at(gate * per_gate + k) != 0) return false;
  }
  return true;
}

constexpr auto hardening_kinds = {HardeningKind::none,        HardeningKind::blend,
                                  HardeningKind::gates,       HardeningKind::straight_through,
                                  HardeningKind::temperature, HardeningKind::noise,
                                  HardeningKind::freeze};

/// Losses and gradients of every kind and parametrisation, with gates that are masked and gradients
/// that are scaled on their way; evaluations do not see any of it.
TEST_P(DeviceNetworkFeatures, HardensAsTheTapeDoes) {
  for (const auto parametrisation : parametrisations) {
    const int arity = parametrisation == Parametrisation::softmax16 ? 2 : 3;
    const Scene scene{.inputs = 11,
                      .widths = {150, 30, 7},
                      .arities = {arity, 2, 2},
                      .samples = 60,
                      .parametrisation = parametrisation};
    LogicNetwork network = network_of(scene);
    Tensor mask = Tensor::ones({30}, DType::float32);
    for (const std::size_t gate : {0U, 7U, 29U}) mask.mutable_values<float>()[gate] = 0;
    network.set_mask(1, mask);
    const std::vector<Tensor> frozen = some_frozen(network);
    const Tensor x = shares({scene.inputs, scene.samples}, 1);
    const Tensor target = shares({7, scene.samples}, 2);
    const NetworkSpec spec{
        .batch = scene.samples, .parametrisation = parametrisation, .gradient_factor = 1.5};
    const auto there = on_device(device(), network, spec);
    there->set_cases(DataRole::training, x, target);
    const NetworkScores soft = there->evaluate();
    for (const auto kind : hardening_kinds) {
      for (const double share : {0.0, 0.4, 1.0}) {
        SCOPED_TRACE(testing::Message()
                     << to_string(parametrisation) << ", " << to_string(kind) << " " << share);
        const NetworkStepArguments step{.hardening = step_of(kind, share), .frozen = frozen};
        const auto gradients =
            expect_same_gradients(*there, network, x, target, spec, step, tolerance);
        for (const std::int64_t gate : {0, 7, 29}) EXPECT_TRUE(is_zero(gradients[1], gate));
        if (kind == HardeningKind::freeze && share > 0) {
          for (const std::int64_t gate : {0, 3, 6}) EXPECT_TRUE(is_zero(gradients[2], gate));
        }
        EXPECT_FALSE(is_zero(gradients[2], 1));
        EXPECT_TRUE(same_bits(there->evaluate().soft, soft.soft));
      }
    }
  }
}

/// A few steps of each kind, whose draws change from step to step; frozen gates stay where they
/// are.
TEST_P(DeviceNetworkFeatures, TrainsHardenedTablesAsTheTapeDoes) {
  for (const auto parametrisation : parametrisations) {
    for (const auto kind : hardening_kinds) {
      SCOPED_TRACE(testing::Message() << to_string(parametrisation) << ", " << to_string(kind));
      const Scene scene{
          .inputs = 9, .widths = {30, 6}, .samples = 40, .parametrisation = parametrisation};
      const LogicNetwork network = network_of(scene);
      const std::vector<Tensor> before = [&] {
        std::vector<Tensor> copies;
        for (const Tensor& logits : network.parameters()) copies.push_back(logits.detach().clone());
        return copies;
      }();
      const std::vector<Tensor> frozen = some_frozen(network);
      const NetworkSpec spec{.batch = 40, .parametrisation = parametrisation};
      const auto there = on_device(device(), network, spec);
      const Tensor x = shares({9, 40}, 1);
      const Tensor target = shares({6, 40}, 2);
      there->set_cases(DataRole::training, x, target);
      AdamW adamw(network.parameters(), {});
      for (std::int64_t i = 0; i < 4; ++i) {
        NetworkStepArguments step{.step = i,
                                  .learning_rate = 0.02,
                                  .hardening = step_of(kind, 0.3 * static_cast<double>(i)),
                                  .frozen = frozen};
        if (kind == HardeningKind::freeze) step.hardening.share = 0.5;
        step.hardening.step = static_cast<std::uint32_t>(i);
        const Tensor loss = loss_on_tape(network, x, target, spec, step);
        adamw.step(grad(loss, network.parameters()), 0.02);
        EXPECT_NEAR(there->step(step).loss, loss.item(), 1e-4 * loss.item()) << "step " << i;
      }
      const std::vector<Tensor> after = there->parameters();
      for (std::size_t i = 0; i < after.size(); ++i) {
        EXPECT_LT(largest_error(after[i], network.parameters()[i].detach()), 1e-3) << "layer " << i;
      }
      const bool freezes = kind == HardeningKind::freeze;
      const std::int64_t per_gate = after[0].shape()[1];
      for (std::int64_t k = 0; k < per_gate; ++k) {
        const std::int64_t at = 3 * per_gate + k;
        if (freezes) {
          EXPECT_EQ(after[0].at(at), before[0].at(at));
        }
      }
    }
  }
}

/// Drawn again for every step, and at one address the same.
TEST_P(DeviceNetworkFeatures, DrawsAtTheAddressOfTheStep) {
  const Scene scene{.inputs = 9, .widths = {30, 6}, .samples = 40};
  const LogicNetwork network = network_of(scene);
  const auto there = on_device(device(), network, {.batch = 40});
  there->set_cases(DataRole::training, shares({9, 40}, 1), shares({6, 40}, 2));
  for (const auto kind : {HardeningKind::gates, HardeningKind::noise}) {
    HardeningStep hardening = step_of(kind, 0.5);
    const double first = there->gradients({.hardening = hardening});
    hardening.step = 6;
    const double second = there->gradients({.hardening = hardening});
    hardening.step = 5;
    EXPECT_NE(first, second);
    EXPECT_EQ(first, there->gradients({.hardening = hardening}));
  }
}

void expect_head(const Device& where, const Head& head, const Scene& scene, double smoothing,
                 double limit = 1e-5) {
  SCOPED_TRACE(testing::Message() << to_string(head.kind) << ", " << scene.widths.back()
                                  << " outputs of arity " << scene.arities.back() << ", "
                                  << scene.samples << " samples");
  const LogicNetwork network = network_of(scene);
  const NetworkSpec spec{.batch = scene.samples,
                         .parametrisation = scene.parametrisation,
                         .head = head,
                         .label_smoothing = smoothing};
  const Tensor x = shares({scene.inputs, scene.samples}, 1);
  const Tensor labels = labels_for(head, scene.samples);
  const auto there = on_device(where, network, spec);
  there->set_cases(DataRole::training, x, labels);
  expect_same_gradients(*there, network, x, labels, spec, {}, limit);
  expect_same_scores(*there, network, x, spec, limit);
  EXPECT_EQ(there->layer_outputs()[0].shape(), (Shape{scene.widths[0], scene.samples}));
}

const std::vector<Head>& heads() {
  static const std::vector<Head> all = {{.kind = HeadKind::classes, .classes = 5, .temperature = 3},
                                        {.kind = HeadKind::binary, .temperature = 2.5},
                                        {.kind = HeadKind::regression, .low = 1.5, .high = 6}};
  return all;
}

TEST_P(DeviceNetworkFeatures, HeadsGiveTheLossesOfTheTape) {
  for (const Head& head : heads()) {
    for (const std::int64_t samples : {1, 10, 100, 300}) {
      const Scene scene{.inputs = 40, .widths = {120, 100}, .samples = samples};
      expect_head(device(), head, scene, 0);
    }
    // Sums of many parts, of which that of a binary head is nearly cancelled by half of all.
    expect_head(device(), head, {.inputs = 40, .widths = {120, 3000}, .samples = 40}, 0.1, 5e-5);
  }
}

TEST_P(DeviceNetworkFeatures, HeadsSumGatesOfEveryArity) {
  for (const Head& head : heads()) {
    for (const auto parametrisation : {Parametrisation::sigmoid, Parametrisation::walsh}) {
      for (int arity = 1; arity <= 6; ++arity) {
        expect_head(device(), head,
                    {.inputs = 12,
                     .widths = {20, 35},
                     .arities = {2, arity},
                     .samples = 50,
                     .parametrisation = parametrisation},
                    0.05);
      }
    }
  }
}

TEST_P(DeviceNetworkFeatures, HeadsTrainAsTheTapeDoes) {
  for (const Head& head : heads()) {
    SCOPED_TRACE(to_string(head.kind));
    const Scene scene{.inputs = 9, .widths = {30, 20}, .samples = 40};
    const LogicNetwork network = network_of(scene);
    const NetworkSpec spec{.batch = 40, .head = head, .label_smoothing = 0.1};
    const auto there = on_device(device(), network, spec);
    const Tensor x = shares({9, 40}, 1);
    const Tensor labels = labels_for(head, 40);
    there->set_cases(DataRole::training, x, labels);
    AdamW adamw(network.parameters(), {});
    for (std::int64_t step = 0; step < 5; ++step) {
      const Tensor loss = loss_on_tape(network, x, labels, spec);
      adamw.step(grad(loss, network.parameters()), 0.02);
      const StepResult taken = there->step({.step = step, .learning_rate = 0.02});
      EXPECT_NEAR(taken.loss, loss.item(), 1e-4 * loss.item());
    }
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_LT(largest_error(there->parameters()[i], network.parameters()[i].detach()), 1e-3);
    }
  }
}

/// Images of two channels and 3 by 5 pixels, and one or two bits per pixel.
struct Images {
  static constexpr std::int64_t count = 70;
  static constexpr std::int64_t channels = 2;
  static constexpr std::int64_t height = 3;
  static constexpr std::int64_t width = 5;
  static constexpr std::int64_t pixels = channels * height * width;
  Tensor features;
  std::vector<std::int32_t> sources;
  std::vector<float> thresholds;
  std::vector<float> ranges;
  Tensor labels = Tensor({count}, DType::int32);

  explicit Images(DType dtype) {
    features = Tensor({count, pixels}, dtype);
    visit_dtype(dtype, [&](auto zero) {
      using T = decltype(zero);
      const auto to = features.mutable_values<T>();
      for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] = convert<T>(static_cast<float>(i * 37 % 251));
      }
    });
    for (std::int32_t b = 0; b < 40; ++b) {
      sources.push_back(b % static_cast<std::int32_t>(pixels));
      thresholds.push_back(b < 2 ? -1.0F : static_cast<float>(b * 31 % 200) + 0.5F);
      ranges.push_back(40.0F + static_cast<float>(b));
    }
    const auto label = labels.mutable_values<std::int32_t>();
    for (std::size_t i = 0; i < label.size(); ++i) label[i] = static_cast<std::int32_t>(i * 7 % 5);
  }

  FeatureSamples samples(bool learns) const {
    return {.features = features,
            .sources = sources,
            .thresholds = thresholds,
            .height = height,
            .width = width,
            .ranges = learns ? std::span<const float>(ranges) : std::span<const float>(),
            .width_share = 0.3};
  }

  /// Features [samples, pixels] of what is picked and shifted.
  Tensor shifted(const std::vector<std::int64_t>& picked,
                 const std::vector<ImageShift>& shifts) const {
    Tensor result = Tensor::zeros({std::ssize(picked), pixels}, DType::float32);
    const auto to = result.mutable_values<float>();
    for (std::size_t s = 0; s < picked.size(); ++s) {
      for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
        const std::int64_t x = pixel % width - shifts[s].right;
        const std::int64_t y = pixel / width % height - shifts[s].down;
        if (x < 0 || x >= width || y < 0 || y >= height) continue;
        const std::int64_t from = pixel - shifts[s].down * width - shifts[s].right;
        to[s * static_cast<std::size_t>(pixels) + static_cast<std::size_t>(pixel)] =
            static_cast<float>(features.at(picked[s] * pixels + from));
      }
    }
    return result;
  }

  /// [bits, samples]
  Tensor bits(const Tensor& of) const {
    return unpack_bits(Thresholds(pixels, sources, Tensor::of(thresholds)).bits_of(of),
                       DType::float32);
  }

  Tensor labels_of(const std::vector<std::int64_t>& picked) const {
    Tensor result({std::ssize(picked)}, DType::int32);
    for (std::size_t i = 0; i < picked.size(); ++i) {
      result.mutable_values<std::int32_t>()[i] = static_cast<std::int32_t>(labels.at(picked[i]));
    }
    return result;
  }
};

std::vector<std::int64_t> some_images(std::int64_t count) {
  std::vector<std::int64_t> picked;
  for (std::int64_t i = 0; i < count; ++i) picked.push_back(i * 11 % Images::count);
  return picked;
}

std::vector<ImageShift> some_shifts(std::int64_t count) {
  std::vector<ImageShift> shifts;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(count); ++i) {
    shifts.push_back({.right = i * 7 % 5 - 2, .down = i * 3 % 5 - 2});
  }
  return shifts;
}

std::vector<std::int64_t> all_images() {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < Images::count; ++i) all.push_back(i);
  return all;
}

TEST_P(DeviceNetworkFeatures, MakesBitsOfShiftedImages) {
  for (const DType dtype : {DType::uint8, DType::float32}) {
    const Images images(dtype);
    const Scene scene{.inputs = 40, .widths = {120, 100}, .samples = 33};
    const LogicNetwork network = network_of(scene);
    const NetworkSpec spec{.batch = scene.samples, .head = Head{.classes = 5}};
    const auto there = on_device(device(), network, spec);
    there->set_samples(DataRole::training, images.samples(false), images.labels);
    const auto picked = some_images(scene.samples);
    const std::vector<ImageShift> none(picked.size());
    const std::vector<ImageShift> shifts = some_shifts(scene.samples);
    for (const auto& now : {none, shifts}) {
      const Tensor x = images.bits(images.shifted(picked, now));
      expect_same_gradients(*there, network, x, images.labels_of(picked), spec,
                            {.samples = picked, .shifts = now}, tolerance);
    }
    const Tensor in_order =
        images.bits(images.shifted(all_images(), std::vector<ImageShift>(Images::count)));
    expect_same_scores(*there, network, in_order, spec, tolerance);
    const std::string name = "[" + to_string(device()) + "] ";
    expect_error(
        [&] {
          there->gradients({.samples = picked, .shifts = {shifts.data(), 3}});
        },
        name + "expected a shift for each of 33 images, received 3 of images");
    there->set_cases(DataRole::training, in_order, images.labels);
    expect_error([&] { there->gradients({.samples = picked, .shifts = shifts}); },
                 name +
                     "expected a shift for each of 33 images, received 33 of samples that are "
                     "none");
  }
}

/// Bits of learned thresholds on the tape, in float32 as on the device.
Tensor learned_bits(const Images& images, const Tensor& features, const Tensor& offsets) {
  const Tensor ranges = Tensor::of(images.ranges);
  const Tensor thresholds = add(Tensor::of(images.thresholds), multiply(offsets, ranges));
  return threshold_bits(transpose(features), thresholds, images.sources, scale(ranges, 0.3));
}

/// Gradients, steps and evaluations with thresholds that are learned, with and without shifts.
TEST_P(DeviceNetworkFeatures, LearnsThresholdsAsTheTapeDoes) {
  for (const bool shifts_images : {false, true}) {
    SCOPED_TRACE(shifts_images ? "shifted" : "not shifted");
    const Images images(shifts_images ? DType::uint8 : DType::float32);
    const Scene scene{.inputs = 40, .widths = {60, 50}, .samples = 33};
    LogicNetwork network = network_of(scene);
    Tensor input_mask = Tensor::ones({40}, DType::float32);
    input_mask.mutable_values<float>()[5] = 0;
    network.set_input_mask(input_mask);
    const NetworkSpec spec{.batch = scene.samples,
                           .head = Head{.classes = 5},
                           .label_smoothing = 0.1,
                           .gradient_factor = 1.3,
                           .optimiser = {.clip_norm = 0.5}};
    const auto there = empty_on_device(device(), network, spec);
    // Ranges of the training samples are those of all, whichever are given first.
    there->set_samples(DataRole::evaluation, images.samples(false), images.labels);
    there->set_samples(DataRole::training, images.samples(true), images.labels);
    Tensor offsets =
        random_tensor({40}, DType::float32, 3, {.low = -0.2, .high = 0.2, .kinks = {}});
    offsets = parameter(offsets);
    load(*there, network, {offsets});
    EXPECT_TRUE(same_bits(there->parameters().back(), offsets.detach()));

    std::vector<Tensor> parameters = network.parameters();
    parameters.push_back(offsets);
    AdamW adamw(parameters, {});
    const auto picked = some_images(scene.samples);
    const auto shifts =
        shifts_images ? some_shifts(scene.samples) : std::vector<ImageShift>(picked.size());
    const Tensor features = images.shifted(picked, shifts);
    const Tensor labels = images.labels_of(picked);
    for (std::int64_t i = 0; i < 4; ++i) {
      NetworkStepArguments step{.step = i, .learning_rate = 0.02, .samples = picked};
      if (shifts_images) step.shifts = shifts;
      const Tensor x = learned_bits(images, features, offsets);
      const Tensor loss = loss_on_tape(network, x, labels, spec);
      const std::vector<Tensor> expected = grad(loss, parameters);
      EXPECT_NEAR(there->gradients(step), loss.item(), 1e-4 * loss.item()) << "step " << i;
      const std::vector<Tensor> gradients = there->parameter_gradients();
      ASSERT_EQ(gradients.size(), 3U);
      for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_LT(largest_error(gradients[k], expected[k]), 1e-4) << "parameter " << k;
      }
      EXPECT_EQ(gradients[2].at(5), 0);
      there->gradients(step);
      EXPECT_TRUE(same_bits(there->parameter_gradients()[2], gradients[2]));
      there->step(step);
      adamw.step(clip_by_norm(expected, 0.5), 0.02);
    }
    EXPECT_EQ(there->first_moments().back().shape(), Shape{40});
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_LT(largest_error(there->parameters()[k], parameters[k].detach()), 1e-3)
          << "parameter " << k;
    }
    // What the device has learned, on the CPU.
    load(*there, network, {offsets});
    const Tensor all = images.shifted(all_images(), std::vector<ImageShift>(Images::count));
    expect_same_scores(*there, network, learned_bits(images, all, offsets.detach()).detach(), spec,
                       tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceNetworkFeatures, all_other_devices, name_of_device);

}  // namespace
}  // namespace boolgrad
