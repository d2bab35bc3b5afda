// Features of network training on devices, compared with the tape: hardening, heads, learned
// thresholds, learned wires. Skipped without a device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "boolgrad/logic/image_transforms.h"
#include "boolgrad/logic/thresholds.h"
#include "boolgrad/ops/matrix.h"
#include "boolgrad/optim/adamw.h"
#include "boolgrad/optim/gradients.h"
#include "boolgrad/options/names.h"
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
std::vector<Tensor> some_frozen(const logic::Network& network) {
  std::vector<Tensor> layers;
  for (const logic::GateLayer& layer : network.layers()) {
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

/// Losses and gradients of every hardening kind and parametrisation, with masked gates and gradient
/// scaling. Evaluation is not affected.
TEST_P(DeviceNetworkFeatures, HardensAsTheTapeDoes) {
  for (const auto parametrisation : parametrisations) {
    const int arity = parametrisation == Parametrisation::softmax16 ? 2 : 3;
    const Scene scene{.inputs = 11,
                      .widths = {150, 30, 7},
                      .arities = {arity, 2, 2},
                      .samples = 60,
                      .parametrisation = parametrisation};
    logic::Network network = network_of(scene);
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

/// A few steps of each kind, with new random numbers at each step. Frozen gates do not change.
TEST_P(DeviceNetworkFeatures, TrainsHardenedTablesAsTheTapeDoes) {
  for (const auto parametrisation : parametrisations) {
    for (const auto kind : hardening_kinds) {
      SCOPED_TRACE(testing::Message() << to_string(parametrisation) << ", " << to_string(kind));
      const Scene scene{
          .inputs = 9, .widths = {30, 6}, .samples = 40, .parametrisation = parametrisation};
      const logic::Network network = network_of(scene);
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

/// Random numbers differ between steps and are equal for equal addresses.
TEST_P(DeviceNetworkFeatures, SamplesAtTheAddressOfTheStep) {
  const Scene scene{.inputs = 9, .widths = {30, 6}, .samples = 40};
  const logic::Network network = network_of(scene);
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
  const logic::Network network = network_of(scene);
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

TEST_P(DeviceNetworkFeatures, HeadLossesAgreeWithTheTape) {
  for (const Head& head : heads()) {
    for (const std::int64_t samples : {1, 10, 100, 300}) {
      const Scene scene{.inputs = 40, .widths = {120, 100}, .samples = samples};
      expect_head(device(), head, scene, 0);
    }
    // Sums of many terms; the sum of a binary head nearly cancels.
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
    const logic::Network network = network_of(scene);
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

  /// Features [samples, pixels] of the selected images, transformed by the reference.
  Tensor transformed(const std::vector<std::int64_t>& picked,
                     const std::vector<ImageTransform>& transforms) const {
    return cast(logic::transformed_images(features, height, width, picked, transforms),
                DType::float32);
  }

  /// [bits, samples]
  Tensor bits(const Tensor& of) const {
    return logic::unpack_bits(
        logic::Thresholds(pixels, sources, Tensor::of(thresholds)).bits_of(of), DType::float32);
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

std::vector<ImageTransform> some_shifts(std::int64_t count) {
  std::vector<ImageTransform> shifts;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(count); ++i) {
    shifts.push_back({.right = i * 7 % 5 - 2, .down = i * 3 % 5 - 2});
  }
  return shifts;
}

/// Rotated, scaled, mirrored, shifted and cut out.
std::vector<ImageTransform> some_transforms(std::int64_t count) {
  std::vector<ImageTransform> transforms;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(count); ++i) {
    const logic::ImageChange change{.is_mirrored = i % 2 == 1,
                                    .degrees = i * 47 % 360 - 180.0,
                                    .scale = 0.6 + i % 7 * 0.2,
                                    .right = i % 3 - 1,
                                    .down = i % 4 - 1,
                                    .cut_left = i % 6 - 2,
                                    .cut_top = i % 5 - 1,
                                    .cut_side = i % 3};
    transforms.push_back(logic::image_transform(change, Images::height, Images::width));
  }
  return transforms;
}

std::vector<std::int64_t> all_images() {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < Images::count; ++i) all.push_back(i);
  return all;
}

TEST_P(DeviceNetworkFeatures, BinarisesTransformedImages) {
  for (const DType dtype : {DType::uint8, DType::float32}) {
    const Images images(dtype);
    const Scene scene{.inputs = 40, .widths = {120, 100}, .samples = 33};
    const logic::Network network = network_of(scene);
    const NetworkSpec spec{.batch = scene.samples, .head = Head{.classes = 5}};
    const auto there = on_device(device(), network, spec);
    there->set_samples(DataRole::training, images.samples(false), images.labels);
    const auto picked = some_images(scene.samples);
    const std::vector<ImageTransform> none(picked.size());
    const std::vector<ImageTransform> shifts = some_shifts(scene.samples);
    // Shifts again at the end: a program that has seen other transforms.
    for (const auto& now : {none, shifts, some_transforms(scene.samples), shifts}) {
      const Tensor x = images.bits(images.transformed(picked, now));
      expect_same_gradients(*there, network, x, images.labels_of(picked), spec,
                            {.samples = picked, .transforms = now}, tolerance);
    }
    const Tensor in_order =
        images.bits(images.transformed(all_images(), std::vector<ImageTransform>(Images::count)));
    expect_same_scores(*there, network, in_order, spec, tolerance);
    const std::string name = "[" + to_string(device()) + "] ";
    expect_error(
        [&] {
          there->gradients({.samples = picked, .transforms = {shifts.data(), 3}});
        },
        name + "expected one transform per image (33), received 3");
    there->set_cases(DataRole::training, in_order, images.labels);
    expect_error([&] { there->gradients({.samples = picked, .transforms = shifts}); },
                 name + "expected images for transforms, received other samples");
  }
}

/// Gates that pass one input show the bits of transformed images, for many thresholds.
TEST_P(DeviceNetworkFeatures, TransformsImagesAsTheCpuDoes) {
  for (const DType dtype : {DType::uint8, DType::float32}) {
    const Images images(dtype);
    std::vector<std::int32_t> sources;
    std::vector<float> thresholds;
    for (std::int32_t pixel = 0; pixel < Images::pixels; ++pixel) {
      for (int level = 0; level < 64; ++level) {
        sources.push_back(pixel);
        thresholds.push_back(static_cast<float>(level * 4 + pixel % 4) + 0.5F);
      }
    }
    const auto bits = std::ssize(sources);
    logic::Network network(bits, Parametrisation::softmax16, DType::float32);
    // Sharp enough that every output is 0 or 1 up to rounding.
    network.add_layer(logic::random_wiring({.inputs = bits, .gates = bits}, 3, 0),
                      logic::initial_logits(Parametrisation::softmax16, bits, 2, DType::float32,
                                            {logic::Initialisation::pass_through, 100}, 5, 0));
    network.add_layer(logic::random_wiring({.inputs = bits, .gates = 10}, 3, 1),
                      logic::initial_logits(Parametrisation::softmax16, 10, 2, DType::float32,
                                            {logic::Initialisation::gaussian, 1}, 5, 1));
    const NetworkSpec spec{.batch = 33, .head = Head{.classes = 5}};
    const auto there = on_device(device(), network, spec);
    FeatureSamples samples = images.samples(false);
    samples.sources = sources;
    samples.thresholds = thresholds;
    there->set_samples(DataRole::training, samples, images.labels);
    const auto picked = some_images(33);
    for (const auto& now : {some_transforms(33), some_shifts(33)}) {
      there->gradients({.samples = picked, .transforms = now});
      const Tensor expected = network.soft_layers(
          logic::unpack_bits(logic::Thresholds(Images::pixels, sources, Tensor::of(thresholds))
                                 .bits_of(images.transformed(picked, now)),
                             DType::float32))[0];
      EXPECT_LT(largest_error(there->layer_outputs()[0], expected), 1e-6);
    }
  }
}

/// Probabilities of a teacher, [samples, 5].
Tensor some_soft_targets() {
  Tensor targets =
      random_tensor({Images::count, 5}, DType::float32, 8, {.low = 0.05, .high = 1, .kinks = {}});
  const auto values = targets.mutable_values<float>();
  for (std::size_t row = 0; row < values.size(); row += 5) {
    float sum = 0;
    for (std::size_t c = 0; c < 5; ++c) sum += values[row + c];
    for (std::size_t c = 0; c < 5; ++c) values[row + c] /= sum;
  }
  return targets;
}

/// Gradients and steps with soft targets, for chosen samples and in order; then without them.
TEST_P(DeviceNetworkFeatures, LearnsFromATeacherAsTheCpuDoes) {
  const Images images(DType::uint8);
  for (const double weight : {0.3, 1.0}) {
    SCOPED_TRACE(weight);
    const Scene scene{.inputs = 40, .widths = {120, 100}, .samples = 33};
    const logic::Network network = network_of(scene);
    const NetworkSpec spec{.batch = scene.samples,
                           .head = Head{.classes = 5, .temperature = 3},
                           .label_smoothing = 0.1,
                           .teacher_weight = weight};
    const auto there = on_device(device(), network, spec);
    const auto host = logic::make_host_network(network, spec);
    load(*host, network);
    FeatureSamples samples = images.samples(false);
    samples.soft_targets = some_soft_targets();
    const auto picked = some_images(scene.samples);
    const auto expect_same = [&](const NetworkStepArguments& step) {
      const double loss = host->gradients(step);
      EXPECT_NEAR(there->gradients(step), loss, tolerance * loss);
      for (std::size_t k = 0; k < 2; ++k) {
        EXPECT_LT(largest_error(there->parameter_gradients()[k], host->parameter_gradients()[k]),
                  tolerance);
      }
      return loss;
    };
    for (DeviceNetwork* program : {there.get(), host.get()}) {
      program->set_samples(DataRole::training, samples, images.labels);
    }
    const double mixed = expect_same({.samples = picked});
    expect_same({});
    for (std::int64_t i = 0; i < 4; ++i) {
      const NetworkStepArguments step{.step = i, .learning_rate = 0.02, .samples = picked};
      const double loss = host->step(step).loss;
      EXPECT_NEAR(there->step(step).loss, loss, 1e-4 * loss);
    }
    // Data without soft targets.
    for (DeviceNetwork* program : {there.get(), host.get()}) {
      load(*program, network);
      program->set_samples(DataRole::training, images.samples(false), images.labels);
    }
    EXPECT_NE(expect_same({.samples = picked}), mixed);
  }
}

TEST_P(DeviceNetworkFeatures, RejectsUnsuitableSoftTargets) {
  const Images images(DType::uint8);
  const logic::Network network = network_of({.inputs = 40, .widths = {120, 100}, .samples = 33});
  const std::string name = "[" + to_string(device()) + "] ";
  FeatureSamples samples = images.samples(false);
  samples.soft_targets = Tensor::zeros({Images::count, 4}, DType::float32);
  const auto set_with = [&](const Head& head) {
    const auto there = empty_on_device(device(), network, {.batch = 33, .head = head});
    there->set_samples(DataRole::training, samples, images.labels);
  };
  expect_error([&] { set_with({.classes = 5}); },
               name + "expected soft targets [70, 5], received [70, 4]");
  for (std::int32_t& label : Tensor(images.labels).mutable_values<std::int32_t>()) label %= 2;
  expect_error([&] { set_with({.kind = HeadKind::binary}); },
               name + "expected soft targets only with a head of classes");
  samples.soft_targets = Tensor::zeros({Images::count, 5}, DType::float64);
  expect_error([&] { set_with({.classes = 5}); },
               name + "expected soft targets of float32, received float64");
}

/// The input bits of learned thresholds on the tape, in float32 as on the device.
Tensor learned_bits(const Images& images, const Tensor& features, const Tensor& offsets) {
  const Tensor ranges = Tensor::of(images.ranges);
  const Tensor thresholds = add(Tensor::of(images.thresholds), multiply(offsets, ranges));
  return logic::threshold_bits(transpose(features), thresholds, images.sources, scale(ranges, 0.3));
}

/// Gradients, steps and evaluations with learned thresholds, with and without transforms.
TEST_P(DeviceNetworkFeatures, LearnsThresholdsAsTheTapeDoes) {
  for (const std::string kind : {"unchanged", "shifted", "transformed"}) {
    SCOPED_TRACE(kind);
    const Images images(kind == "unchanged" ? DType::float32 : DType::uint8);
    const Scene scene{.inputs = 40, .widths = {60, 50}, .samples = 33};
    logic::Network network = network_of(scene);
    Tensor input_mask = Tensor::ones({40}, DType::float32);
    input_mask.mutable_values<float>()[5] = 0;
    network.set_input_mask(input_mask);
    const NetworkSpec spec{.batch = scene.samples,
                           .head = Head{.classes = 5},
                           .label_smoothing = 0.1,
                           .gradient_factor = 1.3,
                           .optimiser = {.clip_norm = 0.5}};
    const auto there = empty_on_device(device(), network, spec);
    // The ranges of the training samples apply, whichever samples are set first.
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
    const auto transforms = kind == "shifted"       ? some_shifts(scene.samples)
                            : kind == "transformed" ? some_transforms(scene.samples)
                                                    : std::vector<ImageTransform>(picked.size());
    const Tensor features = images.transformed(picked, transforms);
    const Tensor labels = images.labels_of(picked);
    for (std::int64_t i = 0; i < 4; ++i) {
      NetworkStepArguments step{.step = i, .learning_rate = 0.02, .samples = picked};
      if (kind != "unchanged") step.transforms = transforms;
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
    // The parameters learned on the device, evaluated on the CPU.
    load(*there, network, {offsets});
    const Tensor all = images.transformed(all_images(), std::vector<ImageTransform>(Images::count));
    expect_same_scores(*there, network, learned_bits(images, all, offsets.detach()).detach(), spec,
                       tolerance);
  }
}

/// Learned wires in the first and the last layer.
struct WireScene {
  WireForward forward;
  std::int64_t candidates;  ///< 0: every input
  int arity;
  Parametrisation parametrisation;
};

constexpr WireScene wire_scenes[] = {
    {WireForward::hard, 6, 2, Parametrisation::softmax16},
    {WireForward::hard, 0, 3, Parametrisation::sigmoid},
    {WireForward::soft, 6, 3, Parametrisation::walsh},
    {WireForward::soft, 0, 2, Parametrisation::softmax16},
};

std::string name_of(const WireScene& scene) {
  return std::string(to_string(scene.parametrisation)) + ", " + std::to_string(scene.candidates) +
         (scene.forward == WireForward::hard ? " candidates, hard" : " candidates, soft");
}

logic::Network network_with_learned_wires(const WireScene& scene) {
  logic::Network network(40, scene.parametrisation, DType::float32);
  for (const std::int64_t gates : {60, 45, 50}) {
    network.add_layer({.gates = gates,
                       .arity = scene.arity,
                       .candidates = gates == 45 ? 1 : scene.candidates,
                       .seed = 7,
                       .initialisation = {logic::Initialisation::gaussian, 1.5}});
  }
  return network;
}

NetworkSpec spec_of(const WireScene& scene) {
  return {.batch = 33,
          .parametrisation = scene.parametrisation,
          .head = Head{.classes = 5},
          .gradient_factor = 1.3,
          .wire_forward = scene.forward,
          .optimiser = {.clip_norm = 0.004}};
}

/// With learned thresholds.
void prepare(DeviceNetwork& program, const logic::Network& network, const Images& images) {
  program.set_samples(DataRole::training, images.samples(true), images.labels);
  load(program, network,
       {random_tensor({40}, DType::float32, 3, {.low = -0.2, .high = 0.2, .kinks = {}})});
}

void expect_same_bits(const std::vector<Tensor>& some, const std::vector<Tensor>& others) {
  ASSERT_EQ(some.size(), others.size());
  for (std::size_t i = 0; i < some.size(); ++i) {
    EXPECT_TRUE(same_bits(some[i], others[i])) << "parameter " << i;
  }
}

void expect_near(const std::vector<Tensor>& received, const std::vector<Tensor>& expected,
                 double limit) {
  ASSERT_EQ(received.size(), expected.size());
  for (std::size_t i = 0; i < received.size(); ++i) {
    EXPECT_LT(largest_error(received[i], expected[i]), limit) << "parameter " << i;
  }
}

void expect_near(const NetworkScores& received, const NetworkScores& expected) {
  EXPECT_LT(largest_error(received.soft, expected.soft), tolerance);
  EXPECT_TRUE(same_bits(received.hard, expected.hard));
}

/// Gradients, steps and evaluations with clipping and learned thresholds; the same bits in two
/// runs; and new candidates.
TEST_P(DeviceNetworkFeatures, LearnsWiresAsTheCpuDoes) {
  const Images images(DType::float32);
  const auto picked = some_images(33);
  for (const WireScene& scene : wire_scenes) {
    SCOPED_TRACE(name_of(scene));
    const logic::Network network = network_with_learned_wires(scene);
    const NetworkSpec spec = spec_of(scene);
    const auto there = empty_on_device(device(), network, spec);
    const auto again = empty_on_device(device(), network, spec);
    const auto host = logic::make_host_network(network, spec);
    for (DeviceNetwork* program : {there.get(), again.get(), host.get()}) {
      prepare(*program, network, images);
    }
    const auto expect_same_step = [&](const NetworkStepArguments& step) {
      const double loss = host->gradients(step);
      EXPECT_NEAR(there->gradients(step), loss, 1e-5 * loss);
      expect_near(there->parameter_gradients(), host->parameter_gradients(), 1e-4);
      EXPECT_GT(global_norm(host->parameter_gradients()), 2 * spec.optimiser.clip_norm);
      EXPECT_NEAR(there->step(step).loss, loss, 1e-5 * loss);
      again->step(step);
      host->step(step);
      expect_same_bits(there->parameters(), again->parameters());
    };
    for (std::int64_t i = 0; i < 4; ++i) {
      SCOPED_TRACE(testing::Message() << "step " << i);
      expect_same_step({.step = i,
                        .learning_rate = 0.02,
                        .samples = picked,
                        .wire_temperature = 1.5 - 0.3 * static_cast<double>(i)});
    }
    expect_near(there->parameters(), host->parameters(), 1e-3);
    // AdamW normalises its steps; only the moments show the factor of clipping.
    expect_near(there->first_moments(), host->first_moments(), 1e-3);
    expect_same_bits(there->first_moments(), again->first_moments());
    for (const double temperature : {1.0, 0.6}) {
      expect_near(there->evaluate(temperature), host->evaluate(temperature));
    }
    for (std::size_t layer = 0; layer < network.layers().size(); ++layer) {
      if (!network.layers()[layer].learns_wires()) continue;
      const NetworkStepArguments step{.samples = picked, .wire_temperature = 0.8};
      const WireSignals received = there->wire_signals(step, layer);
      const WireSignals expected = host->wire_signals(step, layer);
      expect_near(std::vector{received.inputs, received.slot_gradients},
                  std::vector{expected.inputs, expected.slot_gradients}, 1e-3);
    }

    const std::string name = "[" + to_string(device()) + "] ";
    const logic::CandidatesPtr other = logic::random_candidates(
        {.inputs = 40, .gates = 60, .arity = scene.arity},
        scene.candidates == 0 ? 40 : scene.candidates, /*seed=*/8, /*layer=*/0);
    expect_error([&] { there->set_candidates(1, other->view()); },
                 name + "expected a layer with learned wires, received layer 1");
    for (DeviceNetwork* program : {there.get(), again.get(), host.get()}) {
      program->set_candidates(0, other->view());
    }
    expect_near(there->evaluate(0.6), host->evaluate(0.6));
    expect_same_step(
        {.step = 4, .learning_rate = 0.02, .samples = picked, .wire_temperature = 0.6});
  }
}

/// Only the gradients of the last wires are not finite.
TEST_P(DeviceNetworkFeatures, SkipsUpdatesIfAGradientOfWiresIsNotFinite) {
  const logic::Network network = network_with_learned_wires(wire_scenes[0]);
  const auto there = empty_on_device(device(), network, spec_of(wire_scenes[0]));
  Tensor wire_logits = network.layers().back().wire_logits.detach();
  wire_logits.mutable_values<float>()[9] = std::numeric_limits<float>::infinity();
  prepare(*there, network, Images(DType::float32));
  const std::vector<Tensor> before = there->parameters();
  const StepResult result = there->step({.learning_rate = 0.02});
  EXPECT_TRUE(std::isfinite(result.loss));
  EXPECT_FALSE(result.finite);
  expect_same_bits(there->parameters(), before);
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceNetworkFeatures, all_other_devices, name_of_device);

}  // namespace
}  // namespace boolgrad
