// All steps of an automaton in one dispatch, whose workgroups wait for each other. Skipped without
// a device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "boolgrad/automata/starts.h"
#include "boolgrad/backend/vulkan/runtime/context.h"
#include "tests/backend/device_automata.h"
#include "tests/support/devices.h"

namespace boolgrad {
namespace {

struct Scene {
  AutomatonScene automaton;
  AutomatonTraining training = {};
};

/// On CPUs workgroups have 32 threads, so these have layers of that width, and narrow ones.
const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = {
      {{{3, 2, {8, 4, 2}, {32, 32, 32, 32, 16}}, {2, 5, 7, 4}}},
      {{{2, 3, {8, 4, 2, 1}, {32, 30, 24, 16, 8}}, {1, 6, 6, 3}, Border::periodic},
       {.extra_steps = 2, .loss_steps = 3, .gate_penalty = 0.2}},
      {{{5, 1, {8, 4, 2}, {24}}, {1, 2, 2, 5}, Border::zero, 1, Parametrisation::sigmoid},
       {.loss_steps = 9}},
      {{{2, 2, {8, 4, 2}, {32, 32}}, {3, 3, 3, 1}}, {.extra_steps = 1}},
      {{{2, 2, {8, 4, 2}, {32, 32}}, {3, 3, 3, 4}, Border::zero, 1, Parametrisation::walsh},
       {.gate_penalty = 0.1}},
  };
  return all;
}

struct Trained {
  std::vector<double> losses;
  std::vector<std::int64_t> wrong;
  std::vector<Tensor> gradients, parameters;  ///< the last state follows the gradients
  std::string dispatches;                     ///< names of the timed dispatches
};

class VulkanAutomaton : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why_not = vulkan::unavailable();
    if (!why_not.empty()) GTEST_SKIP() << why_not;
    groups_ = context().waiting_groups();
    ::setenv("BOOLGRAD_VULKAN_TIMES", "1", 1);
  }
  void TearDown() override {
    ::unsetenv("BOOLGRAD_VULKAN_TIMES");
    if (!vulkan::unavailable().empty()) return;
    context().set_waiting_groups(groups_);
    context().set_groups_wait(true);
  }

  static vulkan::Context& context() { return vulkan::Context::get(0); }
  /// A number of workgroups that certainly run at the same time.
  int some_groups() const { return std::max(groups_, 1); }

  /// Gradients and some steps of an automaton with `groups` workgroups that wait for each other,
  /// unless steps are taken `one_by_one`.
  static Trained trained(const Scene& scene, const RolloutArguments& arguments, int groups,
                         bool one_by_one) {
    const automata::Rule rule = rule_of(scene.automaton);
    AutomatonTraining training = scene.training;
    training.memory.policy = MemoryPolicy::everything;
    context().set_waiting_groups(groups);
    context().set_groups_wait(!one_by_one);
    testing::internal::CaptureStderr();
    Trained trained;
    {
      const auto automaton =
          automaton_on_device(vulkan_device, rule, scene.automaton.size, training);
      automaton->set_inputs(inputs_for(scene.automaton));
      trained.losses.push_back(automaton->gradients(arguments));
      trained.gradients = automaton->parameter_gradients();
      for (std::int64_t step = 1; step < 4; ++step) {
        RolloutArguments now = arguments;
        if (step == 3) now.steps = scene.automaton.size.steps + training.extra_steps;
        const AutomatonOutcome outcome = automaton->step(now, step, 0.1, step != 2);
        trained.losses.push_back(outcome.loss);
        trained.wrong.push_back(outcome.hard.bits);
      }
      trained.gradients.push_back(automaton->final_state());
      trained.parameters = automaton->parameters();
    }
    trained.dispatches = testing::internal::GetCapturedStderr();
    return trained;
  }

 private:
  int groups_ = 0;
};

void expect_same(const Trained& one, const Trained& other) {
  EXPECT_EQ(one.losses, other.losses);
  EXPECT_EQ(one.wrong, other.wrong);
  for (std::size_t i = 0; i < one.gradients.size(); ++i) {
    EXPECT_TRUE(same_bits(one.gradients[i], other.gradients[i])) << "layer " << i;
  }
  for (std::size_t i = 0; i < one.parameters.size(); ++i) {
    EXPECT_TRUE(same_bits(one.parameters[i], other.parameters[i])) << "layer " << i;
  }
}

const std::vector<RolloutArguments>& all_arguments() {
  static const std::vector<RolloutArguments> all = {
      {},
      {.seed = 5,
       .random_step = 3,
       .random_starts = true,
       .start_stream = 1,
       .fire_rate = 0.6,
       .fire_stream = 2,
       .hardening = {HardeningKind::states, 0.3, 1, 0, 5, 3, 3}},
      {.hardening = {HardeningKind::noise, 0.3, 1, 0.6, 5, 3, 3}},
  };
  return all;
}

TEST_F(VulkanAutomaton, OneDispatchIsBitIdenticalToMany) {
  for (const Scene& scene : scenes()) {
    for (const RolloutArguments& arguments : all_arguments()) {
      // Tables are made before all steps; two scenes are enough for those of noise.
      const bool draws_noise = arguments.hardening.kind == HardeningKind::noise;
      if (draws_noise && scene.training.gate_penalty == 0) continue;
      const Trained at_once = trained(scene, arguments, some_groups(), false);
      const Trained one_by_one = trained(scene, arguments, some_groups(), true);
      EXPECT_NE(at_once.dispatches.find("automaton/train\n"), std::string::npos);
      EXPECT_NE(at_once.dispatches.find("automaton/hard_steps\n"), std::string::npos);
      EXPECT_EQ(one_by_one.dispatches.find("automaton/train\n"), std::string::npos);
      EXPECT_NE(one_by_one.dispatches.find("automaton/backward\n"), std::string::npos);
      expect_same(at_once, one_by_one);
    }
  }
}

TEST_F(VulkanAutomaton, FallsBackToSingleStepsIfWorkgroupsGiveUp) {
  if (!context().physical().is_cpu) GTEST_SKIP() << "the device may run all groups at a time";
  constexpr int too_many_groups = 150;
  const Scene scene{{{2, 2, {8, 4, 2}, {16, 16}}, {3, 16, 16, 3}}};
  const Trained given_up = trained(scene, {}, too_many_groups, false);
  EXPECT_FALSE(context().groups_wait());
  EXPECT_NE(given_up.dispatches.find("automaton/train\n"), std::string::npos);
  EXPECT_NE(given_up.dispatches.find("automaton/backward\n"), std::string::npos);
  expect_same(given_up, trained(scene, {}, too_many_groups, true));
}

TEST_F(VulkanAutomaton, TimesArePrintedOnRequest) {
  const Scene& scene = scenes().front();
  const std::string times = trained(scene, {}, 0, true).dispatches;
  EXPECT_NE(times.find("microseconds of dispatches, averages of 1 runs:\n"), std::string::npos)
      << times;
  ::unsetenv("BOOLGRAD_VULKAN_TIMES");
  EXPECT_EQ(trained(scene, {}, 0, true).dispatches, "");
}

}  // namespace
}  // namespace boolgrad
