#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "boolgrad/core/parallel.h"
#include "boolgrad/train/automaton_learner.h"
#include "boolgrad/train/trainer.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"
#include "tests/support/scratch.h"
#include "tests/support/tensor_files.h"
#include "tests/support/trainer_checks.h"

namespace boolgrad {
namespace {

/// Small, with everything on that has a state or draws numbers. Hardening sets in at once.
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
probes = 3
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
  // While it hardens, and when it is hard.
  expect_resumable(busy(), 60, {15, 50});
}

TEST(AutomatonTrainer, ThreadsDoNotChangeABit) { expect_same_on_any_threads(busy(), 30); }

TEST(AutomatonTrainer, EveryOptionChangesTheRun) {
  const auto logits_after = [](const std::vector<std::string>& overrides) {
    Trainer trainer(busy(overrides));
    take(trainer, 30);
    return trainer.learner().parameters().back().detach();
  };
  const Tensor plain = logits_after({});
  for (const char* change :
       {"automaton.fire_rate=1", "automaton.batch=3", "automaton.steps=5", "automaton.start=seed",
        "automaton.border=periodic", "automaton.height=8", "task.square=3", "hardening.kind=none",
        "hardening.kind=blend", "hardening.kind=states", "hardening.steps=20",
        "hardening.threshold=1e-9", "hardening.rate_share=0.5", "seed=4"}) {
    EXPECT_FALSE(same_bits(logits_after({change}), plain)) << change;
  }
  for (const char* change : {"automaton.memory=1GB", "automaton.probes=5"}) {
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

TEST(AutomatonLearner, ShowsTheChannelsOfTheTarget) {
  const Evaluation evaluation = AutomatonLearner(busy()).evaluate();
  EXPECT_EQ(evaluation.picture.shape(), (Shape{1, 1, 6, 7}));
}

TEST(AutomatonLearner, KeepsWhatFitsIntoTheMemory) {
  const AutomatonLearner quick(busy({"automaton.steps=20"}));
  EXPECT_EQ(quick.memory().policy, MemoryPolicy::states);
  const std::size_t states = memory_needed(quick.rule(), quick.size(), quick.memory());
  const std::string less = "automaton.memory=" + std::to_string(states / 2) + "B";
  const AutomatonLearner small(busy({"automaton.steps=20", less}));
  EXPECT_EQ(small.memory().policy, MemoryPolicy::some_states);
}

}  // namespace
}  // namespace boolgrad
