// Hardened automata on devices, compared with the CPU. Skipped without a device.
#include "boolgrad/automata/starts.h"
#include "boolgrad/backend/device/bit_automaton.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "boolgrad/automata/bit_automaton.h"
#include "boolgrad/automata/rollout.h"
#include "boolgrad/core/error.h"
#include "boolgrad/data/automaton_task.h"
#include "tests/support/devices.h"
#include "tests/support/life_rule.h"
#include "tests/support/random_tensor.h"

namespace boolgrad {
namespace {

class DeviceBitAutomatonTest : public DeviceTest {
 protected:
  std::unique_ptr<DeviceBitAutomaton> made(const automata::BitAutomaton& host,
                                           const automata::BitGrid& state, Border border) const {
    return make_device_bit_automaton(device(), host.program().code(),
                                     {state.channels(), state.batch(), state.height(),
                                      state.width(), border == Border::periodic});
  }

  static void expect_same(const DeviceBitAutomaton& there, const automata::BitGrid& here,
                          const std::string& when) {
    automata::BitGrid fetched(here.channels(), here.batch(), here.height(), here.width());
    there.download(fetched.words());
    ASSERT_TRUE(same_bits(fetched.to_tensor(DType::uint8), here.to_tensor(DType::uint8))) << when;
  }

  /// Compares several steps at once, single steps, asynchronous steps and damage.
  void expect_agreement(const automata::Rule& rule, const automata::RolloutSize& size) {
    automata::BitAutomaton host(rule);
    automata::BitGrid state = automata::BitGrid::from(
        automata::random_starts({rule.channels(), size.batch, size.height, size.width}, 1, 1));
    const auto there = made(host, state, rule.border());
    there->upload(state.words());
    expect_same(*there, state, "before");
    for (int i = 0; i < 3; ++i) host.step(state);
    there->step_all(3);
    expect_same(*there, state, "after three steps");
    const automata::Rectangle hole{size.height / 2, size.width / 3, 1, (size.width + 1) / 2};
    state.clear(hole);
    there->clear(hole.top, hole.left, hole.height, hole.width);
    expect_same(*there, state, "with a hole");
    automata::RolloutSize one = size;
    one.steps = 1;
    for (const std::uint32_t step : {0U, 1U}) {
      const automata::BitGrid fires =
          automata::BitGrid::from(automata::fire_masks(one, 0.6, 7, 3, step));
      host.step(state, &fires);
      there->step_some({0.6, 7, 3, step});
      expect_same(*there, state, "after a step of some");
    }
    for (int i = 0; i < 37; ++i) host.step(state);
    there->step_all(37);
    expect_same(*there, state, "after many steps");
  }
};

automata::Rule random_rule(const automata::RuleShape& shape, Border border) {
  return automata::Rule::make(shape, border, Parametrisation::sigmoid, DType::float32,
                              {logic::Initialisation::gaussian, 1}, 5);
}

TEST_P(DeviceBitAutomatonTest, AgreesOnGridsOfAnyWidth) {
  const automata::RuleShape shape{.channels = 2, .kernels = 2, .perceive = {8, 4}, .update = {20}};
  for (const std::int64_t width : {3, 31, 32, 33, 64, 65, 97}) {
    for (const Border border : {Border::zero, Border::periodic}) {
      expect_agreement(random_rule(shape, border), {2, 5, width, 1});
    }
  }
}

/// More slots than fit into shared memory, so that they are stored in a buffer.
TEST_P(DeviceBitAutomatonTest, AgreesForLongPrograms) {
  const automata::RuleShape shape{
      .channels = 256, .kernels = 4, .perceive = {8, 4, 2}, .update = {2048, 1024, 512}};
  expect_agreement(random_rule(shape, Border::periodic), {1, 4, 40, 1});
}

TEST_P(DeviceBitAutomatonTest, PlaysLife) { expect_agreement(life_rule(), {1, 33, 75, 1}); }

TEST_P(DeviceBitAutomatonTest, RejectsGridsThatAreTooLarge) {
  const automata::BitAutomaton host(life_rule());
  try {
    make_device_bit_automaton(device(), host.program().code(), {1, 1, 1 << 20, 1 << 20, true});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with("[" + to_string(device()) + "] expected grids smaller than "))
        << message;
    EXPECT_TRUE(message.ends_with("received 1 channels of 1 grids 1048576x1048576")) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(All, DeviceBitAutomatonTest, all_other_devices, name_of_device);

}  // namespace
}  // namespace boolgrad
