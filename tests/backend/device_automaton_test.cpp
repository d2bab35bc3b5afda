// Automata on devices, compared with the CPU. Skipped without a device.
#include "boolgrad/backend/device/automaton.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "boolgrad/automata/bit_automaton.h"
#include "boolgrad/core/error.h"
#include "tests/backend/device_automata.h"
#include "tests/support/devices.h"

namespace boolgrad {
namespace {

using Scene = AutomatonScene;

class DeviceAutomatonTest : public DeviceTest {};

struct Given {
  Tensor initial;
  Tensor target;
  Tensor fire;
};

Given given_for(const Scene& scene) {
  const AutomatonInputs inputs = inputs_for(scene);
  return {inputs.starts, inputs.target,
          scene.fire_rate < 1 ? automata::fire_masks(scene.size, scene.fire_rate, 3, 3) : Tensor()};
}

/// Compares loss, states and gradients for every memory policy, and checks that a second run gives
/// the same bits.
void expect_agreement(const Device& where, const Scene& scene) {
  const automata::Rule rule = rule_of(scene);
  const automata::RolloutSize& size = scene.size;
  const Given given = given_for(scene);
  const Tensor expected = automata::rollout(rule, given.initial, given.fire,
                                            {.steps = size.steps, .returned = size.steps});
  const Tensor last = slice(expected, 0, size.steps - 1, size.steps);
  const Tensor expected_loss = sum_of_squares(last, given.target.viewed_as(last.shape()));
  const std::vector<Tensor> expected_gradients = grad(expected_loss, rule.parameters());

  std::vector<Tensor> first;
  for (const Memory& memory : automata::memory_choices(rule, size)) {
    const auto device = automaton_on_device(where, rule, size, {.memory = memory});
    device->set_inputs({given.initial, given.fire, given.target});
    const double loss = device->gradients({});
    const std::vector<Tensor> gradients = device->parameter_gradients();
    EXPECT_NEAR(loss, expected_loss.item(), 1e-5 * expected_loss.item() + 1e-6);
    if (memory.policy != MemoryPolicy::some_states) {
      const Tensor states = device->states();
      EXPECT_LT(largest_error(states.viewed_from(given.initial.size(), expected.shape()),
                              expected.detach()),
                1e-5);
    }
    EXPECT_LT(largest_error(device->final_state(), last.detach().viewed_as(given.initial.shape())),
              1e-5);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      EXPECT_LT(largest_error(gradients[i], expected_gradients[i]), 1e-5)
          << "layer " << i << ", " << automata::describe(memory);
      if (!first.empty()) {
        EXPECT_TRUE(same_bits(gradients[i], first[i])) << automata::describe(memory);
      }
    }
    EXPECT_EQ(device->gradients({}), loss);
    const std::vector<Tensor> again = device->parameter_gradients();
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      EXPECT_TRUE(same_bits(gradients[i], again[i])) << "layer " << i;
    }
    first = gradients;
  }
}

/// Compares the final states of the hardened rule.
void expect_same_bits_when_hard(const Device& where, const Scene& scene) {
  const automata::Rule rule = rule_of(scene);
  const automata::RolloutSize& size = scene.size;
  const Given given = given_for(scene);
  const auto device = automaton_on_device(where, rule, size, {});
  const HardErrors outcome =
      device->hard_rollout(size.batch, {given.initial, given.fire, given.target}, {});
  automata::BitGrid state = automata::BitGrid::from(given.initial);
  automata::BitAutomaton automaton(rule);
  for (std::int64_t step = 0; step < size.steps; ++step) automaton.step(state, given.fire, step);
  EXPECT_TRUE(same_bits(device->hard_state(), state.to_tensor(DType::uint8)));
  std::int64_t wrong = 0;
  const Tensor values = state.to_tensor(DType::uint8);
  for (std::int64_t i = 0; i < values.size(); ++i) wrong += values.at(i) != given.target.at(i);
  EXPECT_EQ(outcome.bits, wrong);
}

const std::vector<Scene>& small_scenes() {
  static const std::vector<Scene> all = {
      // One cell and one gate; then kernels with and without tree structure.
      {{1, 1, {8}, {}}, {1, 1, 1, 1}},
      {{1, 1, {8, 4, 2, 1}, {2}}, {1, 1, 1, 2}, Border::zero, 0.6},
      {{3, 2, {8, 4, 2}, {11, 7}}, {2, 5, 7, 4}, Border::zero, 0.6},
      {{2, 3, {8, 5}, {11, 7}}, {3, 9, 3, 5}, Border::periodic},
      {{5, 1, {8, 4, 2}, {33}}, {1, 33, 17, 3}, Border::periodic, 0.5},
      {{2, 16, {8, 4, 2, 1}, {24}}, {33, 3, 3, 2}, Border::periodic},
      {{3, 5, {8, 4, 2}, {64, 64}}, {2, 6, 6, 7}, Border::zero, 0.5, Parametrisation::sigmoid},
      {{3, 2, {8, 4, 2}, {20, 9}}, {2, 6, 5, 4}, Border::periodic, 0.7, Parametrisation::walsh},
      {{1, 17, {8, 4, 2}, {20}}, {1, 4, 4, 3}},
  };
  return all;
}

const std::vector<Scene>& large_scenes() {
  static const std::vector<Scene> all = {
      // Sizes with specialised kernels: 16 kernels of 8 channels, up to 16 and up to 20 layers.
      {{8, 16, {8, 4, 2}, {256, 256, 64, 8}}, {2, 7, 9, 9}, Border::zero, 0.6},
      {{8, 16, {8, 4, 2, 1}, {128, 64, 32}}, {1, 8, 8, 6}, Border::periodic},
      {{8, 16, {8, 4, 2}, std::vector<std::int64_t>(19, 64)}, {1, 6, 5, 5}},
      // More tiles than multiprocessors.
      {{2, 2, {8, 4}, {24, 12}}, {9, 40, 41, 2}},
      {{1, 4, {8, 4, 2}, {16, 8}}, {9, 40, 41, 3}, Border::zero, 0.7},
      // More than fits into shared memory.
      {{64, 4, {8, 4, 2, 1}, {512, 512, 256}}, {1, 9, 9, 3}, Border::periodic},
      {{128, 2, {8, 4, 2}, {4000, 4000, 2000}}, {1, 5, 5, 2}},
  };
  return all;
}

TEST_P(DeviceAutomatonTest, AgreesWithTheCpu) {
  for (const Scene& scene : small_scenes()) expect_agreement(device(), scene);
}

TEST_P(DeviceAutomatonTest, AgreesWithTheCpuForLargeRules) {
  for (const Scene& scene : large_scenes()) expect_agreement(device(), scene);
}

TEST_P(DeviceAutomatonTest, HardStatesAgreeWithTheCpu) {
  for (const Scene& scene : small_scenes()) expect_same_bits_when_hard(device(), scene);
  for (const Scene& scene : large_scenes()) expect_same_bits_when_hard(device(), scene);
}

TEST_P(DeviceAutomatonTest, SuggestsAMemoryPolicyThatFits) {
  const automata::Rule rule =
      automata::Rule::make({1, 1, {8}, {}}, Border::zero, Parametrisation::softmax16,
                           DType::float32, {logic::Initialisation::gaussian, 1}, 7);
  const automata::RolloutSize size{.batch = 1, .height = 300, .width = 300, .steps = 1000000};
  try {
    automaton_on_device(device(), rule, size, {});
    FAIL() << "expected an error";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_TRUE(
        message.starts_with("[" + to_string(device()) + "] out of memory: training needs 36"))
        << message;
    EXPECT_NE(message.find(" free; keeping one state every "), std::string::npos) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(All, DeviceAutomatonTest, all_other_devices, name_of_device);

TEST(CudaBackend, ReportsWhyItIsNotAvailable) {
  if (cuda::unavailable().empty()) {
    EXPECT_NE(cuda::device_description().find("compute capability"), std::string::npos);
  } else {
    EXPECT_GT(cuda::unavailable().size(), 5U);
  }
}

}  // namespace
}  // namespace boolgrad
