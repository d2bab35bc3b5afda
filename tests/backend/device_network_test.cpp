// Gate networks on devices against the CPU. Skipped where there is no device.
#include "boolgrad/backend/device/network.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <numeric>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/logic/thresholds.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/loss.h"
#include "boolgrad/ops/reduction.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/optim/adamw.h"
#include "boolgrad/optim/gradients.h"
#include "boolgrad/train/learners/image_shifts.h"
#include "boolgrad/train/learners/training_outputs.h"
#include "tests/support/devices.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace boolgrad {
namespace {

class DeviceNetworkTest : public DeviceTest {};

constexpr double tolerance = 1e-5;

struct Scene {
  std::int64_t inputs = 5;
  std::vector<std::int64_t> widths = {7, 3};
  std::vector<int> arities = {2, 2};
  std::int64_t samples = 9;
  Parametrisation parametrisation = Parametrisation::softmax16;
  LossKind loss = LossKind::squares;
};

LogicNetwork network_of(const Scene& scene) {
  LogicNetwork network(scene.inputs, scene.parametrisation, DType::float32);
  for (std::uint32_t i = 0; i < scene.widths.size(); ++i) {
    const WiringSize size{network.outputs(), scene.widths[i], scene.arities[i]};
    network.add_layer(random_wiring(size, 3, i),
                      initial_logits(scene.parametrisation, size.gates, size.arity, DType::float32,
                                     {Initialisation::gaussian, 1.5}, 5, i));
  }
  return network;
}

/// The same network in twice the precision.
LogicNetwork in_float64(const LogicNetwork& network) {
  TensorFile file = network.to_file();
  for (auto& [name, tensor] : file.tensors) {
    if (tensor.dtype() == DType::float32) tensor = cast(tensor, DType::float64);
  }
  return LogicNetwork::from_file(file);
}

Tensor shares(const Shape& shape, std::uint64_t seed) {
  return random_tensor(shape, DType::float32, seed, {.low = 0.05, .high = 0.95, .kinks = {}});
}

Tensor loss_on_cpu(LossKind loss, const Tensor& y, const Tensor& target) {
  switch (loss) {
    case LossKind::squares: return sum_of_squares(y, target);
    case LossKind::l4: return l4(y, target);
    case LossKind::bce: return binary_cross_entropy(y, target);
    default: return focal(y, target, {.gamma = 1.5});
  }
}

void load(DeviceNetwork& device, const LogicNetwork& network) {
  std::vector<Tensor> logits;
  std::vector<Tensor> masks;
  for (const LogicLayer& layer : network.layers()) {
    logits.push_back(layer.logits.detach());
    masks.push_back(layer.mask);
  }
  device.set_parameters(logits, masks, network.input_mask());
}

std::unique_ptr<DeviceNetwork> on_device(const std::string& name, const LogicNetwork& network,
                                         const NetworkPlan& plan) {
  std::vector<LutWires> wires;
  const auto owned = network.wirings();
  for (const WiringPtr& wiring : owned) wires.push_back(wiring->view());
  auto device = make_device_network(name, wires, plan);
  load(*device, network);
  return device;
}

/// Outputs of all layers, loss, gradients and the hardened circuit; and the same bits twice.
void expect_agreement(const std::string& name, const LogicNetwork& network, const Scene& scene) {
  const Tensor x = shares({scene.inputs, scene.samples}, 1);
  const Tensor target = shares({network.outputs(), scene.samples}, 2);
  const auto device = on_device(name, network,
                                {.batch = scene.samples,
                                 .parametrisation = scene.parametrisation,
                                 .loss = scene.loss,
                                 .gamma = 1.5});
  device->set_cases(x, target);
  const double loss = device->gradients({});
  const std::vector<Tensor> gradients = device->logit_gradients();

  const LogicNetwork exact = in_float64(network);
  const Tensor exact_x = cast(x, DType::float64);
  const Tensor expected_loss =
      loss_on_cpu(scene.loss, exact.soft(exact_x), cast(target, DType::float64));
  EXPECT_NEAR(loss, expected_loss.item(), tolerance * expected_loss.item());
  const std::vector<Tensor> expected_outputs = exact.soft_layers(exact_x);
  const std::vector<Tensor> outputs = device->outputs();
  const std::vector<Tensor> expected = grad(expected_loss, exact.parameters());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_LT(largest_error(outputs[i], expected_outputs[i].detach()), tolerance) << "layer " << i;
    EXPECT_LT(largest_error(gradients[i], expected[i]), tolerance) << "layer " << i;
  }
  EXPECT_TRUE(
      same_bits(device->hard_outputs(), unpack_bits(network.hard(pack_bits(x)), DType::uint8)));
  EXPECT_EQ(device->gradients({}), loss);
  const std::vector<Tensor> again = device->logit_gradients();
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(same_bits(gradients[i], again[i]));
}

void expect_agreement(const std::string& name, const Scene& scene) {
  SCOPED_TRACE(testing::Message() << scene.samples << " samples, " << scene.widths.size()
                                  << " layers, arity " << scene.arities[0]);
  expect_agreement(name, network_of(scene), scene);
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

/// More gates of samples than a submission holds where dispatches are kept short.
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

/// Loss and gradients of tables between soft and hard, and of gradients scaled on their way.
TEST_P(DeviceNetworkTest, AgreesForHarderTablesAndScaledGradients) {
  for (const auto parametrisation :
       {Parametrisation::softmax16, Parametrisation::sigmoid, Parametrisation::walsh}) {
    const Scene scene{.inputs = 11,
                      .widths = {40, 30, 7},
                      .arities = {2, 2, 2},
                      .samples = 60,
                      .parametrisation = parametrisation};
    const LogicNetwork network = network_of(scene);
    const Tensor x = shares({scene.inputs, scene.samples}, 1);
    const Tensor target = shares({7, scene.samples}, 2);
    const auto there = on_device(
        device(), network,
        {.batch = scene.samples, .parametrisation = parametrisation, .gradient_factor = 1.5});
    there->set_cases(x, target);
    const LogicNetwork exact = in_float64(network);
    const double soft_loss = there->evaluate().soft_loss;
    for (const double share : {0.0, 0.4, 1.0}) {
      Experiment experiment;
      experiment.network.gradient_factor = 1.5;
      Hardening hardening({.kind = HardeningKind::blend});
      TensorFile progress;
      progress.metadata["hardening.progress"] = std::to_string(share);
      hardening.load(progress);
      const Tensor expected_loss =
          sum_of_squares(training_outputs(exact, cast(x, DType::float64), hardening, experiment, 0),
                         cast(target, DType::float64));
      const std::vector<Tensor> expected = grad(expected_loss, exact.parameters());
      there->set_hard_share(share);
      EXPECT_NEAR(there->gradients({}), expected_loss.item(), tolerance * expected_loss.item());
      const std::vector<Tensor> gradients = there->logit_gradients();
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_LT(largest_error(gradients[i], expected[i]), tolerance)
            << to_string(parametrisation) << ", layer " << i << ", share " << share;
      }
      EXPECT_EQ(there->evaluate().soft_loss, soft_loss) << "which is that of soft tables";
    }
  }
}

TEST_P(DeviceNetworkTest, AgreesForEveryLoss) {
  for (const auto loss : {LossKind::squares, LossKind::l4, LossKind::bce, LossKind::focal}) {
    expect_agreement(device(),
                     Scene{.inputs = 13, .widths = {37, 29}, .samples = 50, .loss = loss});
  }
}

TEST_P(DeviceNetworkTest, AgreesForSharedInputsAndTheSameWireTwice) {
  const Scene scene{.inputs = 3, .widths = {6, 4}, .samples = 33};
  LogicNetwork network(scene.inputs, scene.parametrisation, DType::float32);
  const auto logits = [&](std::int64_t gates, std::uint32_t layer) {
    return initial_logits(scene.parametrisation, gates, 2, DType::float32,
                          {Initialisation::gaussian, 1}, 9, layer);
  };
  const std::vector<std::int32_t> first{0, 0, 0, 1, 1, 2, 0, 1, 1, 1, 0, 2};
  const std::vector<std::int32_t> second{5, 5, 5, 5, 5, 0, 5, 0};
  network.add_layer(std::make_shared<const Wiring>(3, Tensor::of(first, {2, 6})), logits(6, 0));
  network.add_layer(std::make_shared<const Wiring>(6, Tensor::of(second, {2, 4})), logits(4, 1));
  expect_agreement(device(), network, scene);
}

TEST_P(DeviceNetworkTest, MaskedGatesHaveGradientsOfZero) {
  for (const auto parametrisation :
       {Parametrisation::softmax16, Parametrisation::sigmoid, Parametrisation::walsh}) {
    const Scene scene{
        .inputs = 6, .widths = {20, 9}, .samples = 40, .parametrisation = parametrisation};
    LogicNetwork network = network_of(scene);
    Tensor mask = Tensor::ones({20}, DType::float32);
    for (const std::size_t gate : {0U, 7U, 19U}) mask.mutable_values<float>()[gate] = 0;
    network.set_mask(0, mask);
    Tensor input_mask = Tensor::ones({6}, DType::float32);
    input_mask.mutable_values<float>()[2] = 0;
    network.set_input_mask(input_mask);
    expect_agreement(device(), network, scene);

    const auto there = on_device(device(), network,
                                 {.batch = scene.samples, .parametrisation = parametrisation});
    there->set_cases(shares({6, 40}, 1), shares({9, 40}, 2));
    there->gradients({});
    const Tensor gradient = there->logit_gradients()[0];
    const std::int64_t per_gate = gradient.shape()[1];
    for (const std::int64_t gate : {0, 7, 19}) {
      for (std::int64_t k = 0; k < per_gate; ++k) EXPECT_EQ(gradient.at(gate * per_gate + k), 0);
    }
  }
}

/// The first of the largest of a sample's class scores [classes, samples].
std::int64_t best_class(const Tensor& scores, std::int64_t sample) {
  const std::int64_t samples = scores.shape()[1];
  std::int64_t best = 0;
  for (std::int64_t c = 1; c < scores.shape()[0]; ++c) {
    if (scores.at(c * samples + sample) > scores.at(best * samples + sample)) best = c;
  }
  return best;
}

void expect_cross_entropy(const std::string& name, std::int64_t outputs, std::int64_t samples) {
  SCOPED_TRACE(testing::Message() << outputs << " outputs, " << samples << " samples");
  const Scene scene{.inputs = 40, .widths = {120, outputs}, .samples = samples};
  const LogicNetwork network = network_of(scene);
  const Tensor x = shares({scene.inputs, samples}, 1);
  Tensor labels({samples}, DType::int32);
  const auto label = labels.mutable_values<std::int32_t>();
  for (std::size_t i = 0; i < label.size(); ++i) label[i] = static_cast<std::int32_t>(i * 7 % 5);
  const auto device = on_device(name, network, {.batch = samples, .classes = 5, .temperature = 3});
  device->set_cases(x, labels);
  const double loss = device->gradients({});
  const std::vector<Tensor> gradients = device->logit_gradients();

  const auto scores_of = [&](const Tensor& y) {
    const Tensor groups = reshape(y, {5, outputs / 5, samples});
    return divide(sum(groups, {.axes = Axes{1}}), Tensor::scalar(3, DType::float32));
  };
  const Tensor scores = scores_of(network.soft(x));
  const Tensor expected_loss = cross_entropy(scores, labels, {.axis = 0});
  EXPECT_NEAR(loss, expected_loss.item(), tolerance * expected_loss.item());
  const std::vector<Tensor> expected = grad(expected_loss, network.parameters());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_LT(largest_error(gradients[i], expected[i]), tolerance) << "layer " << i;
  }
  const NetworkScore score = device->evaluate();
  EXPECT_NEAR(score.soft_loss, expected_loss.item(), tolerance * expected_loss.item());
  const Tensor hard = scores_of(unpack_bits(network.hard(pack_bits(x)), DType::float32));
  std::int64_t soft_wrong = 0;
  std::int64_t hard_wrong = 0;
  for (std::int64_t i = 0; i < samples; ++i) {
    const std::int64_t wanted = i * 7 % 5;
    soft_wrong += best_class(scores.detach(), i) != wanted ? 1 : 0;
    hard_wrong += best_class(hard, i) != wanted ? 1 : 0;
  }
  EXPECT_EQ(score.soft_wrong_cases, soft_wrong);
  EXPECT_EQ(score.hard_wrong_cases, hard_wrong);
  EXPECT_EQ(score.hard_wrong_bits, hard_wrong);
}

TEST_P(DeviceNetworkTest, ClassScoresGiveTheCrossEntropy) {
  for (const std::int64_t samples : {1, 10, 100, 300}) expect_cross_entropy(device(), 100, samples);
  expect_cross_entropy(device(), 3000, 40);  // sums of many parts
}

/// Pictures of two channels and 3 by 5 pixels, and a bit or two a pixel.
struct Pictures {
  static constexpr std::int64_t count = 70;
  static constexpr std::int64_t pixels = 30;
  DataForm form;
  Tensor features;
  std::vector<std::int32_t> sources;
  std::vector<float> levels;
  Tensor labels = Tensor({count}, DType::int32);

  explicit Pictures(DType dtype) {
    form.channels = 2;
    form.height = 3;
    form.width = 5;
    features = Tensor({count, pixels}, dtype);
    visit_dtype(dtype, [&](auto zero) {
      using T = decltype(zero);
      const auto to = features.mutable_values<T>();
      for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = convert<T>(static_cast<float>(i * 37 % 251));
    });
    for (std::int32_t b = 0; b < 40; ++b) {
      sources.push_back(b % static_cast<std::int32_t>(pixels));
      levels.push_back(b < 2 ? -1.0F : static_cast<float>(b * 31 % 200) + 0.5F);
    }
    const auto label = labels.mutable_values<std::int32_t>();
    for (std::size_t i = 0; i < label.size(); ++i) label[i] = static_cast<std::int32_t>(i * 7 % 5);
  }

  void load(DeviceNetwork& device) const {
    device.set_samples({.features = features,
                        .sources = sources,
                        .levels = levels,
                        .height = form.height,
                        .width = form.width},
                       labels);
  }

  /// [bits, picked]
  Tensor bits(const std::vector<std::int64_t>& picked,
              const std::vector<ImageShift>& moves) const {
    const Thresholds thresholds(pixels, sources, Tensor::of(levels));
    return unpack_bits(thresholds.bits_of(moved_pictures(features, form, picked, moves)),
                       DType::float32);
  }
};

TEST_P(DeviceNetworkTest, MakesBitsOfMovedPictures) {
  for (const DType dtype : {DType::uint8, DType::float32}) {
    const Pictures pictures(dtype);
    const Scene scene{.inputs = 40, .widths = {120, 100}, .samples = 33};
    const LogicNetwork network = network_of(scene);
    const auto there = on_device(device(), network, {.batch = scene.samples, .classes = 5});
    pictures.load(*there);
    std::vector<std::int64_t> picked;
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < scene.samples; ++i) picked.push_back(i * 11 % Pictures::count);
    for (std::int64_t i = 0; i < Pictures::count; ++i) all.push_back(i);
    Tensor labels({scene.samples}, DType::int32);
    for (std::size_t i = 0; i < picked.size(); ++i) {
      labels.mutable_values<std::int32_t>()[i] = static_cast<std::int32_t>(picked[i] * 7 % 5);
    }
    const std::vector<ImageShift> none(picked.size());
    const std::vector<ImageShift> moves = drawn_moves(scene.samples, 2, 1, 0);
    for (const auto& now : {none, moves}) {
      const double loss = there->gradients(picked, now);
      const Tensor x = pictures.bits(picked, now);
      const Tensor scores =
          sum(reshape(network.soft(x), {5, 20, scene.samples}), {.axes = Axes{1}});
      const Tensor expected = cross_entropy(scores, labels, {.axis = 0});
      EXPECT_NEAR(loss, expected.item(), tolerance * expected.item());
    }
    const Tensor in_order = pictures.bits(all, std::vector<ImageShift>(all.size()));
    EXPECT_TRUE(same_bits(there->hard_outputs(),
                          unpack_bits(network.hard(pack_bits(in_order)), DType::uint8)));
    expect_error(
        [&] {
          there->gradients(picked, {moves.data(), 3});
        },
        "[" + device() +
            "] expected a move for each of 33 pictures picked, received 3 of pictures");
    there->set_cases(in_order, pictures.labels);
    expect_error([&] { there->gradients(picked, moves); },
                 "[" + device() +
                     "] expected a move for each of 33 pictures picked, received 33 of samples "
                     "that are none");
  }
}

/// Steps of AdamW on the CPU and on the device, from the same start and on the same cases.
void expect_same_training(const std::string& name, const AdamWOptions& options, bool in_order) {
  const Scene scene{.inputs = 10, .widths = {60, 40, 6}, .arities = {2, 2, 2}, .samples = 48};
  const LogicNetwork network = network_of(scene);
  const std::int64_t batch = in_order ? scene.samples : 20;
  const auto device = on_device(name, network, {.batch = batch, .optimiser = options});
  const Tensor x = shares({scene.inputs, scene.samples}, 1);
  const Tensor target = shares({6, scene.samples}, 2);
  device->set_cases(x, target);
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
    gradients =
        with_noise(gradients, options.noise, options.seed, static_cast<std::uint32_t>(step));
    adamw.step(gradients, 0.02);
    const NetworkStep taken =
        device->step(in_order ? std::vector<std::int64_t>{} : picked, step, 0.02);
    EXPECT_TRUE(taken.finite);
    EXPECT_NEAR(taken.loss, loss.item(), 1e-4 * loss.item()) << "step " << step;
  }
  const std::vector<Tensor> logits = device->logits();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    EXPECT_LT(largest_error(logits[i], network.parameters()[i].detach()), 1e-2) << "layer " << i;
  }
}

TEST_P(DeviceNetworkTest, TrainsAsTheCpuDoes) {
  expect_same_training(device(), {.weight_decay = 0.01}, true);
  expect_same_training(device(), {.clip_value = 0.05}, false);
  expect_same_training(device(), {.clip_norm = 0.5}, true);
  expect_same_training(device(), {.noise = 0.01, .seed = 4}, false);
}

TEST_P(DeviceNetworkTest, UpdatesNothingWhereSomethingIsNotFinite) {
  const Scene scene{.inputs = 10, .widths = {60, 6}, .samples = 20};
  const LogicNetwork network = network_of(scene);
  for (const double clip_norm : {0.0, 1.0}) {
    const auto there =
        on_device(device(), network, {.batch = 20, .optimiser = {.clip_norm = clip_norm}});
    Tensor x = shares({10, 20}, 1);
    x.mutable_values<float>()[3] = std::numeric_limits<float>::quiet_NaN();
    there->set_cases(x, shares({6, 20}, 2));
    EXPECT_FALSE(there->step({}, 0, 0.1).finite);
    const std::vector<Tensor> after = there->logits();
    for (std::size_t i = 0; i < after.size(); ++i) {
      EXPECT_TRUE(same_bits(after[i], network.parameters()[i].detach()));
    }
    there->set_cases(shares({10, 20}, 1), shares({6, 20}, 2));
    EXPECT_TRUE(there->step({}, 0, 0.1).finite);
  }
}

/// Loss and mistakes of soft and of hardened gates over all cases.
void expect_same_score(const std::string& name, const Scene& scene) {
  const std::int64_t samples = scene.samples;
  const LogicNetwork network = network_of(scene);
  const auto device = on_device(name, network, {.batch = 16});
  const std::int64_t outputs = network.outputs();
  const OpDomain any{.low = 0, .high = 1, .kinks = {}};
  const Tensor x = random_tensor({scene.inputs, samples}, DType::float32, 1, any);
  const Tensor target = random_tensor({outputs, samples}, DType::float32, 2, any);
  device->set_cases(x, target);
  const NetworkScore score = device->evaluate();
  const Tensor y = network.soft(x).detach();
  EXPECT_NEAR(score.soft_loss, sum_of_squares(y, target).item(), 1e-4 * score.soft_loss);
  const BitMatrix hard = network.hard(pack_bits(x));
  std::int64_t soft_cases = 0;
  std::int64_t hard_bits = 0;
  std::int64_t hard_cases = 0;
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    bool soft_wrong = false;
    bool hard_wrong = false;
    for (std::int64_t output = 0; output < outputs; ++output) {
      const bool wanted = target.at(output * samples + sample) > 0.5;
      soft_wrong = soft_wrong || (y.at(output * samples + sample) > 0.5) != wanted;
      const bool off = hard.at(output, sample) != wanted;
      hard_wrong = hard_wrong || off;
      hard_bits += off ? 1 : 0;
    }
    soft_cases += soft_wrong ? 1 : 0;
    hard_cases += hard_wrong ? 1 : 0;
  }
  EXPECT_EQ(score.soft_wrong_cases, soft_cases);
  EXPECT_EQ(score.hard_wrong_bits, hard_bits);
  EXPECT_EQ(score.hard_wrong_cases, hard_cases);
  EXPECT_TRUE(same_bits(device->hard_outputs(), unpack_bits(hard, DType::uint8)));
}

TEST_P(DeviceNetworkTest, EvaluatesAsTheCpuDoes) {
  expect_same_score(device(), {.inputs = 9, .widths = {50, 4}, .samples = 500});
}

/// So wide that not all cases fit into what an evaluation holds at a time.
TEST_P(DeviceNetworkTest, EvaluatesPartByPart) {
  expect_same_score(device(), {.inputs = 9, .widths = {20'000, 4}, .samples = 3'500});
}

TEST_P(DeviceNetworkTest, RefusesWhatDoesNotFit) {
  const Scene scene{.inputs = 3, .widths = {6, 4}, .samples = 5};
  const LogicNetwork network = network_of(scene);
  const auto there = on_device(device(), network, {.batch = 5});
  const auto refuses = [&](const std::function<void()>& action, const std::string& message) {
    expect_error(action, "[" + device() + "] expected " + message);
  };
  refuses([&] { there->gradients({}); }, "cases to learn from, received none");
  refuses(
      [&] {
        there->set_cases(shares({2, 5}, 1), shares({4, 5}, 2));
      },
      "inputs [3, cases] and targets [4, 5], received [2, 5] and [4, 5]");
  refuses(
      [&] {
        there->set_cases(shares({3, 5}, 1), shares({4, 6}, 2));
      },
      "inputs [3, cases] and targets [4, 5], received [3, 5] and [4, 6]");
  there->set_cases(shares({3, 5}, 1), shares({4, 5}, 2));
  const std::vector<std::int64_t> few{0, 1};
  const std::vector<std::int64_t> far{0, 1, 2, 3, 5};
  refuses([&] { there->gradients(few); }, "5 cases, received 2");
  refuses([&] { there->gradients(far); }, "cases below 5, received 5");
  const std::vector<Tensor> logits = there->logits();
  const std::vector<Tensor> masks{Tensor::ones({6}, DType::float32),
                                  Tensor::ones({5}, DType::float32)};
  refuses([&] { there->set_parameters(logits, masks, Tensor::ones({3}, DType::float32)); },
          "a mask of 4 gates, received 5");
  refuses([&] { there->set_moments(logits, {}); }, "2 layers, received 0");
  refuses([&] { on_device(device(), network, {.batch = 5, .classes = 3}); },
          "two-input gates in equal groups, received 4 gates for 3 classes");
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceNetworkTest, all_other_devices, name_of_device);

}  // namespace
}  // namespace boolgrad
