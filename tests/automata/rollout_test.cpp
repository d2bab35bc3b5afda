#include "boolgrad/automata/rollout.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "boolgrad/autograd/gradcheck.h"
#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/ops/loss.h"
#include "boolgrad/ops/shaping.h"
#include "tests/support/messages.h"
#include "tests/support/op_cases.h"
#include "tests/support/random_tensor.h"
#include "tests/support/xor_rule.h"

namespace boolgrad::automata {
namespace {

const OpDomain probability{0, 1};

/// A rule with the inputs of a rollout.
struct Scene {
  Rule rule;
  Tensor initial;
  Tensor fire;
  RolloutOptions options;

  Scene(const RuleShape& shape, Border border, const RolloutSize& size, DType dtype,
        std::uint64_t seed, double fire_rate = 1)
      : rule(Rule::make(shape, border, Parametrisation::softmax16, dtype,
                        {logic::Initialisation::gaussian, 1}, seed)),
        initial(random_tensor({shape.channels, size.batch, size.height, size.width}, dtype,
                              seed + 1, probability)),
        options{.steps = size.steps} {
    if (fire_rate < 1) fire = fire_masks(size, fire_rate, seed, 0);
  }

  Tensor run(const Memory& memory = {}) const {
    RolloutOptions with = options;
    with.memory = memory;
    return rollout(rule, initial, fire, with);
  }

  std::vector<Tensor> gradients(const Tensor& states) const {
    const Tensor target = random_tensor(states.shape(), states.dtype(), 99, probability);
    return grad(sum_of_squares(states, target), rule.parameters());
  }
};

const RuleShape small{.channels = 3, .kernels = 2, .perceive = {8, 4, 2}, .update = {20, 9}};

double difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  double most = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double next = std::abs(a.at(i) - b.at(i));
    if (!(next <= most)) most = next;
  }
  return most;
}

TEST(Rollout, AgreesWithTheReference) {
  EXPECT_TRUE(rc::check("fused and composed agree", [](std::uint64_t seed) {
    Choices choose(seed);
    const RuleShape shape{.channels = choose.between(1, 5),
                          .kernels = choose.between(1, 4),
                          .perceive = choose.below(2) == 0 ? std::vector<std::int64_t>{8}
                                                           : std::vector<std::int64_t>{8, 4, 2},
                          .update = {choose.between(5, 10), choose.between(5, 10)}};
    const RolloutSize size{choose.between(1, 3), choose.between(3, 9), choose.between(3, 9),
                           choose.between(1, 5)};
    const Border border = choose.below(2) == 0 ? Border::zero : Border::periodic;
    Scene scene(shape, border, size, DType::float64, seed % 1000, choose.below(2) == 0 ? 0.6 : 1);
    scene.options.returned = choose.between(1, size.steps);
    scene.initial = parameter(scene.initial);
    const Tensor fused = scene.run();
    const Tensor composed = rollout_reference(scene.rule, scene.initial, scene.fire, scene.options);
    RC_ASSERT(difference(fused, composed) < 1e-13);
    std::vector<Tensor> wrt = scene.rule.parameters();
    wrt.push_back(scene.initial);
    const Tensor target = random_tensor(fused.shape(), fused.dtype(), seed, probability);
    const std::vector<Tensor> one = grad(sum_of_squares(fused, target), wrt);
    const std::vector<Tensor> other = grad(sum_of_squares(composed, target), wrt);
    for (std::size_t i = 0; i < wrt.size(); ++i) {
      RC_ASSERT(difference(one[i], other[i]) < 1e-12);
    }
  }));
}

TEST(Rollout, PassesGradcheck) {
  for (const Border border : {Border::zero, Border::periodic}) {
    const RuleShape shape{.channels = 2, .kernels = 1, .perceive = {8, 2}, .update = {4}};
    const Scene scene(shape, border, {1, 3, 4, 3}, DType::float64, 5, 0.6);
    std::vector<Tensor> inputs{scene.initial};
    for (const logic::Network* network : {&scene.rule.perceive(), &scene.rule.update()}) {
      for (const Tensor& table : network->tables()) inputs.push_back(table.detach());
    }
    const GradcheckResult result = gradcheck(
        [&](std::span<const Tensor> in) {
          const std::vector<Tensor> tables(in.begin() + 1, in.end());
          return rollout(scene.rule, tables, in[0], scene.fire, {.steps = 3, .returned = 2});
        },
        inputs);
    EXPECT_TRUE(result.pass) << result.describe();
  }
}

TEST(Rollout, IsDeterministicForAnyMemoryPolicy) {
  const Scene scene(small, Border::periodic, {2, 7, 9, 11}, DType::float32, 3, 0.6);
  const Tensor states = scene.run({MemoryPolicy::everything});
  const std::vector<Tensor> gradients = scene.gradients(states);
  for (const Memory& memory :
       {Memory{MemoryPolicy::states}, Memory{MemoryPolicy::some_states, 2},
        Memory{MemoryPolicy::some_states, 4}, Memory{MemoryPolicy::some_states, 11},
        Memory{MemoryPolicy::some_states, 50}}) {
    const Tensor again = scene.run(memory);
    EXPECT_TRUE(same_bits(states, again)) << describe(memory);
    const std::vector<Tensor> other = scene.gradients(again);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      EXPECT_TRUE(same_bits(gradients[i], other[i])) << describe(memory) << ", layer " << i;
    }
  }
}

TEST(Rollout, IsDeterministicForAnyNumberOfThreads) {
  const int before = thread_count();
  const Scene scene(small, Border::zero, {3, 12, 11, 6}, DType::float32, 8, 0.6);
  std::vector<std::vector<Tensor>> results;
  for (const int threads : {1, 2, 7}) {
    set_thread_count(threads);
    const Tensor states = scene.run();
    results.push_back(scene.gradients(states));
    results.back().push_back(states);
  }
  set_thread_count(before);
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    EXPECT_TRUE(same_bits(results[0][i], results[1][i])) << i;
    EXPECT_TRUE(same_bits(results[0][i], results[2][i])) << i;
  }
}

TEST(Rollout, CanBeSplitAtAnyStep) {
  const Scene scene(small, Border::zero, {1, 6, 6, 7}, DType::float32, 4, 0.6);
  const Tensor whole = scene.run();
  const Tensor first = rollout(scene.rule, scene.initial, slice(scene.fire, 0, 0, 3), {.steps = 3});
  const Tensor second = rollout(scene.rule, first.detach().viewed_as(scene.initial.shape()),
                                slice(scene.fire, 0, 3, 7), {.steps = 4});
  EXPECT_TRUE(same_bits(whole.detach(), second.detach()));
}

TEST(Rollout, KeepsCellsThatDoNotFire) {
  Scene scene(small, Border::zero, {1, 5, 5, 4}, DType::float32, 4);
  scene.fire = Tensor::zeros({4, 1, 5, 5}, DType::uint8);
  EXPECT_TRUE(same_bits(scene.run().detach().viewed_as(scene.initial.shape()), scene.initial));
  for (const Tensor& gradient : scene.gradients(scene.run())) {
    for (std::int64_t i = 0; i < gradient.size(); ++i) ASSERT_EQ(gradient.at(i), 0);
  }
}

TEST(Rollout, RoundsTheMaskedStates) {
  Scene scene(small, Border::zero, {1, 5, 6, 4}, DType::float64, 4);
  scene.options.returned = 4;
  scene.options.round = Tensor::zeros({4, 1, 5, 6}, DType::uint8);
  const Tensor soft = scene.run();
  // Rounding after the second step equals a restart from the rounded state.
  const std::span<std::uint8_t> round = scene.options.round.mutable_values<std::uint8_t>();
  std::fill(round.begin() + 30, round.begin() + 60, std::uint8_t{1});
  const Tensor rounded = scene.run();
  Tensor expected = slice(soft.detach(), 0, 1, 2).clone();
  for (double& value : expected.mutable_values<double>()) value = value > 0.5 ? 1 : 0;
  EXPECT_TRUE(same_bits(slice(rounded.detach(), 0, 0, 1), slice(soft.detach(), 0, 0, 1)));
  EXPECT_TRUE(same_bits(slice(rounded.detach(), 0, 1, 2), expected));
  const Tensor from_there =
      rollout(scene.rule, expected.viewed_as(scene.initial.shape()), {}, {.steps = 2});
  EXPECT_TRUE(same_bits(slice(rounded.detach(), 0, 3, 4), from_there.detach()));
  // Gradients pass straight through the rounding.
  scene.initial = parameter(scene.initial);
  const std::vector<Tensor> wrt{scene.initial};
  const Tensor reached = slice(scene.run(), 0, 1, 2);
  const Tensor ones = Tensor::ones(reached.shape(), reached.dtype());
  scene.options.round = {};
  const Tensor plain = slice(scene.run(), 0, 1, 2);
  EXPECT_LT(difference(grad(reached, wrt, {.upstream = ones})[0],
                       grad(plain, wrt, {.upstream = ones})[0]),
            1e-14);
}

TEST(Rollout, RoundingBeyond0And1DoesNotGrow) {
  const Rule rule = xor_rule(small);
  const Tensor last = rollout(rule, above_1({3, 1, 4, 5}), {}, {.steps = 40});
  for (const float value : last.values<float>()) {
    ASSERT_GE(value, 0);
    ASSERT_LE(value, 1);
  }
}

TEST(Rollout, OfASingleCellReadsZeros) {
  const Scene scene(small, Border::zero, {1, 1, 1, 2}, DType::float64, 6);
  const Tensor composed = rollout_reference(scene.rule, scene.initial, {}, scene.options);
  EXPECT_LT(difference(scene.run(), composed), 1e-14);
}

TEST(RolloutMemory, IsPredictedAndChosen) {
  const RuleShape shape{.channels = 8, .kernels = 16, .perceive = {8, 4, 2}, .update = {256, 8}};
  const Rule rule = Rule::make(shape, Border::zero, Parametrisation::softmax16, DType::float32,
                               {logic::Initialisation::pass_through, 5}, 1);
  const RolloutSize size{2, 16, 16, 20};
  const std::size_t states = memory_needed(rule, size, {MemoryPolicy::states});
  // 20 states of 8 channels. Each grid has a margin, each plane 64 spare elements.
  EXPECT_EQ(states, 20U * 8 * (2 * 18 * 18 + 64) * 4);
  EXPECT_GT(memory_needed(rule, size, {MemoryPolicy::everything}), 20 * states);
  EXPECT_LT(memory_needed(rule, size, {MemoryPolicy::some_states, 4}), states / 2);
  EXPECT_EQ(fitting_memory(rule, size, states).policy, MemoryPolicy::states);
  const Memory least = fitting_memory(rule, size, states - 1);
  EXPECT_EQ(least.policy, MemoryPolicy::some_states);
  EXPECT_EQ(describe(least), "every 4th state");
  expect_error([&] { fitting_memory(rule, size, 1000); },
               "[memory] a rollout of 20 steps needs at least 205056 bytes, but the limit is 1000");
}

TEST(Rollout, RejectsInvalidArguments) {
  const Scene scene(small, Border::periodic, {1, 4, 4, 2}, DType::float32, 1);
  const auto run = [&](const Shape& shape, const Tensor& fire, const RolloutOptions& options = {}) {
    return [&scene, shape, fire, options] {
      rollout(scene.rule, Tensor::zeros(shape, DType::float32), fire, options);
    };
  };
  expect_error(run({2, 1, 4, 4}, {}),
               "[rollout] expected an initial state of shape [3, batch, height, width], received "
               "[2, 1, 4, 4]");
  expect_error(run({3, 1, 2, 4}, {}),
               "[grid] expected at least 3x3 cells with periodic borders, received 2x4");
  expect_error(run({3, 1, 4, 4}, {}, {.steps = 0}),
               "[rollout] expected at least one step, received 0");
  expect_error(run({3, 1, 4, 4}, {}, {.steps = 2, .returned = 3}),
               "[rollout] expected to return 1 to 2 states, received 3");
  expect_error(run({3, 1, 4, 4}, Tensor::zeros({2, 1, 4, 4}, DType::uint8)),
               "[rollout] expected fire masks of uint8 [1, 1, 4, 4], received uint8 [2, 1, 4, 4]");
  expect_error(
      [&] {
        rollout(scene.rule, Tensor::zeros({3, 1, 4, 4}, DType::float64), {}, {});
      },
      "[rollout] expected an initial state of float32, received float64");
  expect_error([&] { rollout(scene.rule, std::vector<Tensor>{}, scene.initial, {}, {}); },
               "[rollout] expected tables of 6 layers, received 0");
}

TEST(FireMasks, FireAtTheirRate) {
  const RolloutSize size{2, 50, 50, 10};
  const Tensor masks = fire_masks(size, 0.6, 7, 3);
  double fired = 0;
  for (const std::uint8_t fire : masks.values<std::uint8_t>()) fired += fire;
  EXPECT_NEAR(fired / static_cast<double>(masks.size()), 0.6, 0.01);
  EXPECT_TRUE(same_bits(masks, fire_masks(size, 0.6, 7, 3)));
  EXPECT_FALSE(same_bits(masks, fire_masks(size, 0.6, 7, 4)));
  const Tensor always = fire_masks(size, 1, 7, 3);
  for (const std::uint8_t fire : always.values<std::uint8_t>()) {
    ASSERT_EQ(fire, 1);
  }
  expect_error([&] { fire_masks(size, 1.5, 1, 1); },
               "[fire_masks] expected a rate from 0 to 1, received 1.5");
}

}  // namespace
}  // namespace boolgrad::automata
