#include "boolgrad/automata/host_automaton.h"

#include <gtest/gtest.h>

#include <cmath>

#include "boolgrad/automata/starts.h"
#include "boolgrad/options/target.h"
#include "tests/support/random_tensor.h"

namespace boolgrad::automata {
namespace {

Rule small_rule() {
  return Rule::make({.channels = 2, .kernels = 2, .perceive = {8, 4}, .update = {8}}, Border::zero,
                    Parametrisation::sigmoid, DType::float32,
                    {logic::Initialisation::pass_through, 2}, 3);
}

AutomatonSpec spec_of(std::int64_t steps) {
  return {.size = {.batch = 3, .height = 5, .width = 6, .steps = steps}, .loss_channels = 1};
}

RolloutArguments with_share(double share) {
  return {.hardening = {.kind = HardeningKind::states, .share = share, .seed = 7, .stream = 1}};
}

TEST(HostAutomaton, RoundsStatesOfAllStepsButTheLast) {
  const Rule rule = small_rule();
  const AutomatonInputs inputs{.starts = random_starts({2, 3, 5, 6}, 5, 1),
                               .fire = {},
                               .target = Tensor::ones({1, 1, 5, 6}, DType::uint8)};
  const auto final_state = [&](std::int64_t steps, double share) {
    const auto program = make_host_automaton(rule, spec_of(steps));
    program->set_inputs(inputs);
    program->gradients(with_share(share));
    return program->final_state();
  };
  EXPECT_TRUE(same_bits(final_state(1, 1), final_state(1, 0))) << "the last state is never rounded";
  Tensor rounded = final_state(1, 0).clone();
  for (float& value : rounded.mutable_values<float>()) value = value > 0.5F ? 1.0F : 0.0F;
  Tensor expected;
  make_host_automaton(rule, spec_of(1))
      ->soft_rollout(3, {.starts = rounded, .fire = {}, .target = inputs.target}, {}, expected);
  EXPECT_TRUE(same_bits(final_state(2, 1), expected));
  const Tensor some = final_state(2, 0.4);
  EXPECT_FALSE(same_bits(some, expected));
  EXPECT_FALSE(same_bits(some, final_state(2, 0)));
}

/// The losses of two parts of a target add up to that of the whole, and so do their gradients.
TEST(HostAutomaton, SomeTargetsDoNotCount) {
  const Rule rule = small_rule();
  const Tensor starts = random_starts({2, 3, 5, 6}, 5, 1);
  for (const LossKind kind : {LossKind::squares, LossKind::l4, LossKind::bce, LossKind::focal}) {
    AutomatonSpec spec = spec_of(2);
    spec.loss = {.kind = kind};
    const auto outcome = [&](const Tensor& target, double& loss) {
      const auto program = make_host_automaton(rule, spec);
      program->set_inputs({starts, {}, target});
      loss = program->gradients({});
      return program->parameter_gradients();
    };
    const Tensor bits = random_starts({1, 3, 5, 6}, 6, 1);
    Tensor first = bits.clone();
    Tensor second = bits.clone();
    for (std::size_t i = 0; i < 90; ++i) {
      (i % 3 == 0 ? first : second).mutable_values<std::uint8_t>()[i] = any_value;
    }
    double whole = 0;
    double part = 0;
    double rest = 0;
    const std::vector<Tensor> together = outcome(bits, whole);
    const std::vector<Tensor> a = outcome(first, part);
    const std::vector<Tensor> b = outcome(second, rest);
    EXPECT_NEAR(part + rest, whole, 1e-4 * whole) << static_cast<int>(kind);
    EXPECT_GT(part, 0);
    EXPECT_GT(rest, 0);
    for (std::size_t i = 0; i < together.size(); ++i) {
      for (std::int64_t j = 0; j < together[i].size(); ++j) {
        ASSERT_NEAR(a[i].at(j) + b[i].at(j), together[i].at(j), 1e-4)
            << static_cast<int>(kind) << ", layer " << i;
      }
    }
  }
}

}  // namespace
}  // namespace boolgrad::automata
