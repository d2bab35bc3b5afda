// Features of automaton training on devices, compared with the tape: hardening, losses over several
// states, extra steps, gate penalties. Skipped without a device.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "boolgrad/logic/host_network.h"
#include "boolgrad/optim/adamw.h"
#include "boolgrad/options/names.h"
#include "boolgrad/options/target.h"
#include "tests/backend/device_automata.h"
#include "tests/support/devices.h"
#include "tests/support/messages.h"
#include "tests/support/xor_rule.h"

namespace boolgrad {
namespace {

class DeviceAutomatonFeatures : public DeviceTest {};

/// One rule for all tests, because devices compile programs per rule.
AutomatonScene scene_of(Parametrisation parametrisation) {
  return {.shape = {2, 2, {8, 4, 2}, {12, 6}},
          .size = {.batch = 2, .height = 4, .width = 5, .steps = 4},
          .parametrisation = parametrisation};
}

/// Masks some gates of the first layer of the update.
automata::Rule masked_rule(const AutomatonScene& scene) {
  const automata::Rule rule = rule_of(scene);
  logic::Network update = rule.update();
  Tensor mask = Tensor::ones({12}, DType::float32);
  for (const std::size_t gate : {0U, 7U}) mask.mutable_values<float>()[gate] = 0;
  update.set_mask(0, mask);
  return {rule.border(), rule.kernels(), rule.perceive(), update};
}

/// Every third gate.
std::vector<Tensor> some_frozen(const automata::Rule& rule) {
  std::vector<Tensor> layers;
  for (const Tensor& logits : rule.parameters()) {
    Tensor frozen = Tensor::zeros({logits.shape()[0]}, DType::float32);
    for (std::size_t gate = 0; gate < static_cast<std::size_t>(frozen.size()); gate += 3) {
      frozen.mutable_values<float>()[gate] = 1;
    }
    layers.push_back(frozen);
  }
  return layers;
}

RolloutArguments arguments_of(HardeningKind kind, double share, const std::vector<Tensor>& frozen) {
  return {.seed = 5,
          .random_step = 3,
          .fire_rate = 0.7,
          .fire_stream = 2,
          .hardening = {.kind = kind,
                        .share = share,
                        .logit_scale = 1 + 2 * share,
                        .noise = 0.7 * share,
                        .seed = 0x123456789abULL,
                        .stream = 77,
                        .step = 9},
          .frozen = frozen};
}

constexpr auto hardening_kinds = {HardeningKind::none,
                                  HardeningKind::blend,
                                  HardeningKind::gates,
                                  HardeningKind::states,
                                  HardeningKind::straight_through,
                                  HardeningKind::temperature,
                                  HardeningKind::noise,
                                  HardeningKind::freeze};

bool is_zero(const Tensor& gradients, std::int64_t gate) {
  const std::int64_t per_gate = gradients.shape()[1];
  for (std::int64_t k = 0; k < per_gate; ++k) {
    if (gradients.at(gate * per_gate + k) != 0) return false;
  }
  return true;
}

/// Compares loss, gradients and final state of a step with the tape, and checks that a second run
/// gives the same bits. The device already has its inputs. Returns the gradients.
std::vector<Tensor> expect_same_step(DeviceAutomaton& there, const automata::Rule& rule,
                                     const automata::RolloutSize& size,
                                     const AutomatonTraining& training,
                                     const AutomatonInputs& inputs,
                                     const RolloutArguments& arguments, double tolerance = 2e-5) {
  const RolloutOnTape expected = rollout_on_tape(rule, size, training, inputs, arguments);
  const std::vector<Tensor> expected_gradients = grad(expected.loss, rule.parameters());
  const double loss = there.gradients(arguments);
  std::vector<Tensor> gradients = there.parameter_gradients();
  EXPECT_NEAR(loss, expected.loss.item(), 1e-5 * expected.loss.item());
  EXPECT_EQ(gradients.size(), expected_gradients.size());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    EXPECT_LT(largest_error(gradients[i], expected_gradients[i]), tolerance) << "layer " << i;
  }
  const Tensor states = expected.states.detach();
  const std::int64_t returned = states.shape()[0];
  EXPECT_LT(
      largest_error(there.final_state(),
                    slice(states, 0, returned - 1, returned).viewed_as(inputs.starts.shape())),
      1e-5);
  EXPECT_EQ(there.gradients(arguments), loss);
  const std::vector<Tensor> again = there.parameter_gradients();
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    EXPECT_TRUE(same_bits(gradients[i], again[i])) << "layer " << i;
  }
  return gradients;
}

/// Every kind of hardening, with random addresses that differ from those of the rollout.
void expect_same_hardening(const Device& where, Parametrisation parametrisation) {
  const AutomatonScene scene = scene_of(parametrisation);
  const automata::Rule rule = masked_rule(scene);
  const std::vector<Tensor> frozen = some_frozen(rule);
  const AutomatonInputs inputs = inputs_for(scene);
  const auto there = automaton_on_device(where, rule, scene.size, {});
  there->set_inputs(inputs);
  for (const auto kind : hardening_kinds) {
    for (const double share : {0.0, 0.4, 1.0}) {
      SCOPED_TRACE(testing::Message() << to_string(kind) << " " << share);
      const std::vector<Tensor> gradients =
          expect_same_step(*there, rule, scene.size, {}, inputs, arguments_of(kind, share, frozen));
      const std::size_t first_of_update = rule.perceive().layers().size();
      for (const std::int64_t gate : {0, 7}) {
        EXPECT_TRUE(is_zero(gradients[first_of_update], gate));
      }
      if (kind == HardeningKind::freeze && share > 0) {
        for (const Tensor& layer : gradients) EXPECT_TRUE(is_zero(layer, 0));
      }
    }
  }
}

TEST_P(DeviceAutomatonFeatures, HardensSoftmax16AsTheTapeDoes) {
  expect_same_hardening(device(), Parametrisation::softmax16);
}

TEST_P(DeviceAutomatonFeatures, HardensSigmoidsAsTheTapeDoes) {
  expect_same_hardening(device(), Parametrisation::sigmoid);
}

TEST_P(DeviceAutomatonFeatures, HardensWalshCoefficientsAsTheTapeDoes) {
  expect_same_hardening(device(), Parametrisation::walsh);
}

/// Losses over several final states, for all rollout lengths and memory policies.
TEST_P(DeviceAutomatonFeatures, SumsTheLossOfSeveralStates) {
  const AutomatonScene scene = scene_of(Parametrisation::softmax16);
  const automata::Rule rule = masked_rule(scene);
  for (const std::int64_t loss_steps : {3, 9}) {
    std::vector<std::vector<Tensor>> first;
    for (const Memory memory : {Memory{MemoryPolicy::everything}, Memory{MemoryPolicy::states},
                                Memory{MemoryPolicy::some_states, 3}}) {
      const AutomatonTraining training{.extra_steps = 3,
                                       .loss_channels = 1,
                                       .loss_steps = loss_steps,
                                       .loss = {.kind = LossKind::bce},
                                       .memory = memory};
      const AutomatonInputs inputs = inputs_for(scene, 1);
      const auto there = automaton_on_device(device(), rule, scene.size, training);
      there->set_inputs(inputs);
      std::vector<std::vector<Tensor>> all;
      for (const std::int64_t steps : {0, 7, 5, 4}) {
        for (const auto kind : {HardeningKind::none, HardeningKind::states}) {
          SCOPED_TRACE(testing::Message() << loss_steps << " losses, " << automata::describe(memory)
                                          << ", " << steps << " steps, " << to_string(kind));
          RolloutArguments arguments = arguments_of(kind, 0.4, {});
          arguments.steps = steps;
          // The cross-entropy of nearly correct states is steep.
          all.push_back(
              expect_same_step(*there, rule, scene.size, training, inputs, arguments, 1e-4));
          if (memory.policy != MemoryPolicy::some_states) {
            EXPECT_EQ(there->states().shape()[0], (steps == 0 ? 4 : steps) + 1);
          }
        }
      }
      for (std::size_t run = 0; run < first.size(); ++run) {
        for (std::size_t i = 0; i < all[run].size(); ++i) {
          EXPECT_TRUE(same_bits(all[run][i], first[run][i])) << automata::describe(memory);
        }
      }
      if (first.empty()) first = all;
      RolloutArguments too_long;
      too_long.steps = 8;
      EXPECT_THROW(there->gradients(too_long), Error);
    }
  }
}

/// The penalty uses the soft tables of the model, not the hardened ones of the step.
TEST_P(DeviceAutomatonFeatures, PenalisesGatesAsTheTapeDoes) {
  for (const auto parametrisation :
       {Parametrisation::softmax16, Parametrisation::sigmoid, Parametrisation::walsh}) {
    const AutomatonScene scene = scene_of(parametrisation);
    const automata::Rule rule = masked_rule(scene);
    const std::vector<Tensor> frozen = some_frozen(rule);
    const AutomatonTraining training{.gate_penalty = 0.7};
    const AutomatonInputs inputs = inputs_for(scene);
    const auto there = automaton_on_device(device(), rule, scene.size, training);
    there->set_inputs(inputs);
    for (const auto kind : {HardeningKind::none, HardeningKind::blend, HardeningKind::temperature,
                            HardeningKind::noise, HardeningKind::freeze}) {
      SCOPED_TRACE(testing::Message() << to_string(parametrisation) << ", " << to_string(kind));
      const std::vector<Tensor> gradients = expect_same_step(
          *there, rule, scene.size, training, inputs, arguments_of(kind, 0.6, frozen));
      const std::size_t first_of_update = rule.perceive().layers().size();
      for (const std::int64_t gate : {0, 7}) {
        EXPECT_TRUE(is_zero(gradients[first_of_update], gate));
      }
    }
  }
}

/// Training steps with all features together, from new initial states at each step, as with a pool.
TEST_P(DeviceAutomatonFeatures, TrainsAsTheTapeDoes) {
  for (const auto kind : {HardeningKind::none, HardeningKind::noise, HardeningKind::temperature,
                          HardeningKind::gates, HardeningKind::freeze}) {
    SCOPED_TRACE(to_string(kind));
    const AutomatonScene scene = scene_of(Parametrisation::softmax16);
    const automata::Rule rule = rule_of(scene);
    const std::vector<Tensor> frozen = some_frozen(rule);
    const bool freezes = kind == HardeningKind::freeze;
    const AutomatonTraining training{
        .extra_steps = 2, .loss_steps = 2, .gate_penalty = freezes ? 0 : 0.05};
    const auto there = automaton_on_device(device(), rule, scene.size, training);
    AutomatonInputs inputs = inputs_for(scene);
    there->set_inputs(inputs);
    const Tensor before = rule.parameters().back().detach().clone();
    AdamW adamw(rule.parameters(), {});
    for (std::int64_t step = 0; step < 5; ++step) {
      RolloutArguments arguments =
          arguments_of(kind, freezes ? 0.5 : 0.2 * static_cast<double>(step), frozen);
      arguments.random_step = arguments.hardening.step = static_cast<std::uint32_t>(step);
      arguments.steps = scene.size.steps + step % 3;
      const RolloutOnTape expected = rollout_on_tape(rule, scene.size, training, inputs, arguments);
      adamw.step(grad(expected.loss, rule.parameters()), 0.02);
      const AutomatonOutcome taken = there->step(arguments, step, 0.02, step % 2 == 1);
      EXPECT_TRUE(taken.finite);
      EXPECT_NEAR(taken.loss, expected.loss.item(), 1e-4 * expected.loss.item()) << "step " << step;
      inputs.starts = there->final_state();
      there->set_inputs({.starts = inputs.starts, .fire = {}, .target = {}});
    }
    const std::vector<Tensor> after = there->parameters();
    for (std::size_t i = 0; i < after.size(); ++i) {
      EXPECT_LT(largest_error(after[i], rule.parameters()[i].detach()), 1e-3) << "layer " << i;
    }
    for (std::int64_t k = 0; freezes && k < 16; ++k) {
      EXPECT_EQ(after.back().at(k), before.at(k)) << "a frozen gate";
    }
    EXPECT_EQ(there->first_moments()[0].shape(), after[0].shape());
  }
}

/// Parameters and moments copied to another program continue the training.
TEST_P(DeviceAutomatonFeatures, ContinuesFromParametersAndMoments) {
  const AutomatonScene scene = scene_of(Parametrisation::softmax16);
  const automata::Rule rule = rule_of(scene);
  const auto make = [&] {
    auto made = automaton_on_device(device(), rule, scene.size, {});
    made->set_inputs(inputs_for(scene));
    return made;
  };
  const auto one = make();
  const auto other = make();
  for (std::int64_t step = 0; step < 3; ++step) one->step({}, step, 0.1, false);
  other->set_parameters(one->parameters(), {});
  other->set_moments(one->first_moments(), one->second_moments());
  for (const auto& either : {one.get(), other.get()}) either->step({}, 3, 0.1, false);
  for (std::size_t i = 0; i < rule.parameters().size(); ++i) {
    EXPECT_TRUE(same_bits(one->parameters()[i], other->parameters()[i])) << "layer " << i;
    EXPECT_TRUE(same_bits(one->second_moments()[i], other->second_moments()[i])) << "layer " << i;
  }
}

/// Evaluation ignores hardening, penalty and the loss of earlier states.
TEST_P(DeviceAutomatonFeatures, EvaluatesSoftGatesAlone) {
  const AutomatonScene scene = scene_of(Parametrisation::softmax16);
  const automata::Rule rule = rule_of(scene);
  const AutomatonInputs inputs = inputs_for(scene);
  const auto there = automaton_on_device(device(), rule, scene.size,
                                         {.extra_steps = 2, .loss_steps = 3, .gate_penalty = 0.5});
  RolloutArguments arguments = arguments_of(HardeningKind::noise, 0.5, {});
  arguments.steps = 6;
  Tensor last;
  const double loss = there->soft_rollout(2, inputs, arguments, last);
  RolloutArguments plain = arguments;
  plain.hardening = {};
  plain.steps = 0;
  const RolloutOnTape expected = rollout_on_tape(rule, scene.size, {}, inputs, plain);
  EXPECT_NEAR(loss, expected.loss.item(), 1e-5 * expected.loss.item());
  EXPECT_LT(largest_error(last, expected.states.detach().viewed_as(last.shape())), 1e-5);
}

TEST_P(DeviceAutomatonFeatures, SomeTargetsDoNotCount) {
  const AutomatonScene scene = scene_of(Parametrisation::softmax16);
  const automata::Rule rule = rule_of(scene);
  AutomatonInputs inputs = inputs_for(scene);
  inputs.target = cast(inputs.target, DType::uint8);
  const std::span<std::uint8_t> bits = inputs.target.mutable_values<std::uint8_t>();
  for (std::size_t i = 0; i < bits.size(); i += 3) bits[i] = any_value;
  for (const std::int64_t loss_steps : {1, 3}) {
    for (const LossKind kind : {LossKind::squares, LossKind::bce}) {
      const AutomatonTraining training{.loss_steps = loss_steps, .loss = {.kind = kind}};
      const auto here = automaton_on_device({}, rule, scene.size, training);
      const auto there = automaton_on_device(device(), rule, scene.size, training);
      here->set_inputs(inputs);
      there->set_inputs(inputs);
      const double expected = here->gradients({});
      EXPECT_NEAR(there->gradients({}), expected, 1e-5 * expected);
      const std::vector<Tensor> gradients = there->parameter_gradients();
      for (std::size_t i = 0; i < gradients.size(); ++i) {
        EXPECT_LT(largest_error(gradients[i], here->parameter_gradients()[i]), 2e-5)
            << "layer " << i;
      }
      Tensor last;
      const double soft = here->soft_rollout(2, inputs, {}, last);
      EXPECT_NEAR(there->soft_rollout(2, inputs, {}, last), soft, 1e-5 * soft);
    }
  }
}

TEST_P(DeviceAutomatonFeatures, RoundingBeyond0And1DoesNotGrow) {
  AutomatonScene scene = scene_of(Parametrisation::sigmoid);
  scene.size.steps = 40;
  const automata::Rule rule = xor_rule(scene.shape);
  const auto program = automaton_on_device(device(), rule, scene.size, {});
  program->set_parameters(logic::detached(rule.parameters()), automata::masks_of(rule));
  const Shape shape = {2, scene.size.batch, scene.size.height, scene.size.width};
  program->set_inputs({above_1(shape), {}, Tensor::zeros(shape, DType::uint8)});
  EXPECT_TRUE(std::isfinite(program->gradients({})));
  const Tensor last = program->final_state();
  for (std::int64_t i = 0; i < last.size(); ++i) {
    ASSERT_GE(last.at(i), 0);
    ASSERT_LE(last.at(i), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceAutomatonFeatures, all_other_devices, name_of_device);

}  // namespace
}  // namespace boolgrad
