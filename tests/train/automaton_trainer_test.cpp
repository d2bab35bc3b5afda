#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "boolgrad/core/parallel.h"
#include "boolgrad/train/learners/automaton_learner.h"
#include "boolgrad/train/learners/initial_model.h"
#include "boolgrad/train/search/trainer.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"
#include "tests/support/scratch.h"
#include "tests/support/tensor_files.h"
#include "tests/support/trainer_checks.h"

namespace boolgrad::train {
namespace {

/// Small, with all options that have a state or use random numbers. Hardening starts at once.
Experiment busy(const std::vector<std::string>& overrides = {}) {
  return parse_experiment(R"(
seed = 3
[task]
kind = "checkerboard"
[automaton]
channels = 3
kernels = 2
perceive = [8, 4]
update = [24]
height = 6
width = 7
steps = 4
batch = 2
fire_rate = 0.6
evaluation_starts = 3
[network]
parametrisation = "softmax16"
init = "pass_through"
init_strength = 3
[training]
steps = 60
learning_rate = 0.1
gradient_noise = 0.01
[hardening]
kind = "gates"
threshold = 100
steps = 40
)",
                          "busy", "busy", "", overrides);
}

TEST(AutomatonTrainer, StoppedAndRestoredGivesTheSameBits) {
  // During hardening and after it.
  expect_resumable(busy(), 60, {15, 50});
}

TEST(AutomatonTrainer, EveryTechniqueResumesAndIsTheSameOnAnyThreads) {
  for (const std::vector<std::string>& technique : std::vector<std::vector<std::string>>{
           {"automaton.loss_steps=3", "automaton.extra_steps=4"},
           {"automaton.training_fire_rate=0.4", "training.gate_penalty=0.01"},
           {"automaton.pool=5"},
           {"hardening.kind=straight_through"},
           {"hardening.kind=temperature"},
           {"hardening.kind=noise"},
           {"hardening.kind=freeze", "network.parametrisation=sigmoid"}}) {
    SCOPED_TRACE(technique[0]);
    expect_resumable(busy(technique), 20, {7});
    expect_same_on_any_threads(busy(technique), 8);
  }
}

TEST(AutomatonTrainer, ThreadsDoNotChangeABit) { expect_same_on_any_threads(busy(), 30); }

TEST(AutomatonTrainer, EveryOptionChangesTheRun) {
  const auto logits_after = [](const std::vector<std::string>& overrides) {
    Trainer trainer(busy(overrides));
    take(trainer, 30);
    return trainer.learner().model().parameters().back().detach();
  };
  const Tensor plain = logits_after({});
  for (const char* change : {"automaton.fire_rate=1",
                             "automaton.batch=3",
                             "automaton.steps=5",
                             "automaton.start=seed",
                             "automaton.border=periodic",
                             "automaton.height=8",
                             "task.square=3",
                             "hardening.kind=none",
                             "hardening.kind=blend",
                             "hardening.kind=states",
                             "hardening.steps=20",
                             "hardening.kind=straight_through",
                             "hardening.kind=temperature",
                             "hardening.kind=noise",
                             "hardening.kind=freeze",
                             "automaton.loss_steps=2",
                             "automaton.extra_steps=2",
                             "automaton.training_fire_rate=0.5",
                             "automaton.pool=4",
                             "training.gate_penalty=0.1",
                             "hardening.threshold=1e-9",
                             "hardening.learning_rate_factor=0.5",
                             "seed=4"}) {
    EXPECT_FALSE(same_bits(logits_after({change}), plain)) << change;
  }
  for (const char* change : {"automaton.memory=1GB", "automaton.evaluation_starts=5"}) {
    EXPECT_TRUE(same_bits(logits_after({change}), plain)) << change;
  }
}

TEST(AutomatonTrainer, LearnsLife) {
  Trainer trainer(parse_experiment(R"(
[task]
kind = "life"
[automaton]
channels = 1
kernels = 8
perceive = [8, 4, 2, 1]
update = [64, 64, 32, 16, 8, 4, 2]
steps = 1
[network]
parametrisation = "softmax16"
init = "pass_through"
init_strength = 5
[training]
learning_rate = 0.05
)",
                                   "life", "life", ""));
  const Evaluation before = trainer.learner().evaluate();
  take(trainer, 120);
  const Evaluation after = trainer.learner().evaluate();
  EXPECT_LT(after.soft_loss, 0.6 * before.soft_loss);
  EXPECT_LT(after.hard_loss, 0.8 * before.hard_loss);
}

TEST(AutomatonLearner, SumsTheLossOverTheLastStates) {
  const auto loss_of = [](const char* steps, const char* states) {
    AutomatonLearner learner(busy({"automaton.fire_rate=1", steps, states}), {});
    return learner.step(0, 1e-9).loss;
  };
  const char* last = "automaton.loss_steps=1";
  EXPECT_NEAR(loss_of("automaton.steps=4", "automaton.loss_steps=3"),
              loss_of("automaton.steps=4", last) + loss_of("automaton.steps=3", last) +
                  loss_of("automaton.steps=2", last),
              1e-3);
}

TEST(AutomatonLearner, PenalisesGatesOfTwoInputs) {
  const auto penalty_of = [](const std::vector<float>& logits) {
    const auto loss_with = [&](const char* penalty) {
      AutomatonLearner learner(busy({"network.parametrisation=sigmoid", "hardening.kind=none",
                                     "network.init_strength=40", penalty}),
                               {});
      std::vector<Tensor> parameters = learner.model().parameters();
      std::ranges::copy(logits, parameters.back().mutable_values<float>().begin());
      return learner.step(0, 1e-9).loss;
    };
    return loss_with("training.gate_penalty=8") - loss_with("training.gate_penalty=0");
  };
  EXPECT_NEAR(penalty_of({-40, 40, -40, 40}), 0, 1e-4) << "a wire";
  EXPECT_NEAR(penalty_of({-40, -40, -40, 40}), 2, 1e-4) << "AND";
  EXPECT_NEAR(penalty_of({-40, 40, 40, -40}), 8, 1e-4) << "XOR";
}

TEST(AutomatonLearner, RejectsInvalidCombinations) {
  expect_error([] { busy({"automaton.loss_steps=5"}); },
               "[experiment] busy: expected automaton.loss_steps of at most automaton.steps = 4, "
               "received 5");
  expect_error([] { busy({"automaton.pool=1"}); },
               "[experiment] busy: expected automaton.pool of at least automaton.batch = 2, "
               "received 1");
  expect_error(
      [] {
        busy({"automaton.pool=600", "task.kind=life", "automaton.channels=1"});
      },
      "[experiment] busy: expected automaton.pool = 0 for life, which has its own starts, "
      "received 600");
}

TEST(AutomatonLearner, ShowsTheChannelsOfTheTarget) {
  const Evaluation evaluation = AutomatonLearner(busy(), {}).evaluate();
  EXPECT_EQ(evaluation.picture.shape(), (Shape{1, 1, 6, 7}));
}

TEST(AutomatonLearner, ChoosesAMemoryPolicyThatFits) {
  const Experiment fast = busy({"automaton.steps=20"});
  const automata::Rule rule = make_rule(fast);
  const TrainingMemory chosen = training_memory(fast, rule);
  EXPECT_EQ(chosen.memory.policy, MemoryPolicy::states);
  const std::size_t states = automata::memory_needed(rule, chosen.size, chosen.memory);
  const std::string less = "automaton.memory=" + std::to_string(states / 2) + "B";
  const Experiment small = busy({"automaton.steps=20", less});
  EXPECT_EQ(training_memory(small, rule).memory.policy, MemoryPolicy::some_states);
}

}  // namespace
}  // namespace boolgrad::train
