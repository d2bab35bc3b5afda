#include "boolgrad/train/search/trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "boolgrad/core/parallel.h"
#include "boolgrad/train/learners/batch_order.h"
#include "boolgrad/train/learners/initial_model.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"
#include "tests/support/scratch.h"
#include "tests/support/tensor_files.h"
#include "tests/support/trainer_checks.h"

namespace boolgrad::train {
namespace {

/// Small, with all options that have a state or use random numbers.
Experiment busy(const std::vector<std::string>& overrides = {}) {
  return parse_experiment(R"(
seed = 3
[task]
kind = "add"
bits = 6
[network]
hidden = [40, 24]
arity = [3, 3, 4]
group_size = [2, 1, 1]
[training]
steps = 200
learning_rate = 0.05
schedule = "cosine"
warmup_steps = 5
weight_decay = 0.01
clip_norm = 0.5
gradient_noise = 0.1
batch = 24
[knockout]
pattern = "random"
share = 0.2
at = 0.25
)",
                          "busy", "busy", "", overrides);
}

Trainer trainer_of(const Experiment& experiment) { return Trainer(experiment); }

const logic::Network& network_of(const Trainer& trainer) {
  return trainer.learner().model().network();
}

TEST(Trainer, StoppedAndRestoredGivesTheSameBits) {
  // Before, at and after the knockout.
  expect_resumable(busy(), 200, {20, 50, 100});
}

TEST(Trainer, ThreadsDoNotChangeABit) { expect_same_on_any_threads(busy(), 60); }

TEST(Trainer, EveryOptionChangesTheRun) {
  Trainer plain = trainer_of(busy());
  take(plain, 60);
  const Tensor logits = network_of(plain).layers()[0].logits;
  for (const char* change :
       {"training.gradient_noise=0", "training.clip_norm=0", "training.weight_decay=0",
        "training.batch=0", "training.warmup_steps=0", "training.schedule=constant",
        "training.clip_value=0.001", "training.loss=l4", "training.loss=bce", "training.loss=focal",
        "training.beta1=0.5", "training.beta2=0.5", "training.epsilon=0.1", "knockout.share=0.3",
        "knockout.seed=9", "knockout.pattern=none", "seed=4"}) {
    Trainer other = trainer_of(busy({change}));
    take(other, 60);
    EXPECT_FALSE(same_bits(network_of(other).layers()[0].logits, logits)) << change;
  }
}

TEST(Trainer, AStateIsACopy) {
  Trainer trainer = trainer_of(busy());
  const TensorFile state = trainer.state();
  const Tensor before = state.tensors.at("layer.0.logits").clone();
  take(trainer, 3);
  EXPECT_TRUE(same_bits(state.tensors.at("layer.0.logits"), before));
}

TEST(Trainer, KnocksOutTheGivenPattern) {
  const auto masked = [](const std::vector<std::string>& overrides) {
    Trainer trainer = trainer_of(busy(overrides));
    trainer.take_knockout();
    trainer.take_knockout();  // idempotent
    std::vector<std::int64_t> counts;
    const auto count = [](const Tensor& mask) {
      std::int64_t off = 0;
      for (std::int64_t i = 0; i < mask.size(); ++i) off += mask.at(i) == 0 ? 1 : 0;
      return off;
    };
    counts.push_back(count(network_of(trainer).input_mask()));
    for (const logic::GateLayer& layer : network_of(trainer).layers())
      counts.push_back(count(layer.mask));
    std::int64_t sum = 0;
    for (const std::int64_t c : counts) sum += c;
    EXPECT_EQ(trainer.learner().model().masked_count(), sum);
    return counts;
  };
  using Counts = std::vector<std::int64_t>;
  EXPECT_EQ(masked({}), (Counts{0, 8, 5, 0})) << "hidden layers only";
  EXPECT_EQ(masked({"knockout.pattern=list", "knockout.layer=2", "knockout.gates=[0, 7, 23]"}),
            (Counts{0, 0, 3, 0}));
  EXPECT_EQ(masked({"knockout.pattern=layer", "knockout.layer=1"}), (Counts{0, 40, 0, 0}));
  EXPECT_EQ(masked({"knockout.pattern=block", "knockout.layer=0", "knockout.first=4",
                    "knockout.count=2"}),
            (Counts{2, 0, 0, 0}));
  EXPECT_EQ(masked({"knockout.pattern=none"}), (Counts{0, 0, 0, 0}));
}

TEST(Trainer, LearnsAndRepairs) {
  Trainer trainer = trainer_of(parse_experiment(R"(
[task]
kind = "add"
bits = 4
[network]
hidden = [64, 32]
arity = 4
[training]
steps = 400
learning_rate = 0.2
loss = "l4"
[knockout]
pattern = "random"
share = 0.25
)",
                                                "small", "small", ""));
  take(trainer, 200);
  EXPECT_TRUE(trainer.learner().evaluate().solved());
  trainer.take_knockout();
  EXPECT_FALSE(trainer.learner().evaluate().solved())
      << "the damage must show, or there is no repair";
  take(trainer, 200);
  EXPECT_TRUE(trainer.learner().evaluate().solved());
  EXPECT_GT(trainer.learner().model().masked_count(), 0);
}

TEST(Trainer, RejectsAStateOfAnotherArchitecture) {
  Trainer trainer = trainer_of(busy());
  const auto refuses = [&](const TensorFile& state, const std::string& message) {
    expect_error([&] { trainer.restore(state, "file"); }, "[resume] file: " + message);
  };
  refuses(trainer_of(busy({"network.hidden=[40, 30]"})).state(),
          "expected layer.1.logits to be float32 [24, 8], received float32 [30, 8]");
  refuses(
      trainer_of(busy({"network.hidden=[40]", "network.arity=3", "network.group_size=1"})).state(),
      "expected layer.0.wires to be int32 [3, 20], received int32 [3, 40]");
  refuses(trainer_of(busy({"seed=4"})).state(),
          "not a checkpoint of this experiment: the seed gives other layer.0.wires");
  TensorFile partial = trainer.state();
  partial.tensors.erase("layer.2.mask");
  refuses(partial, "not a checkpoint of this experiment: tensor layer.2.mask is missing");
  partial = trainer.state();
  partial.tensors.erase("adamw.second.1");
  refuses(partial, "not a checkpoint: tensor adamw.second.1 is missing");
  partial = trainer.state();
  partial.metadata["step"] = "-5";
  refuses(partial, "expected the number of steps taken, received '-5'");
  partial.metadata.erase("step");
  refuses(partial, "expected the number of steps taken, received ''");
}

/// A circuit in double precision.
Experiment adder(const std::vector<std::string>& overrides = {}) {
  return parse_experiment(
      "[task]\nkind = 'add'\nbits = 6\n[network]\nhidden = [30, 20]\ndtype = 'float64'\n"
      "[training]\nsteps = 100\nlearning_rate = 0.05\nbatch = 20\n",
      "test", "adder", "", overrides);
}

TEST(Trainer, CircuitsHardenAndResumeToTheSameBits) {
  for (const std::string kind :
       {"blend", "gates", "straight_through", "temperature", "noise", "freeze"}) {
    const Experiment experiment =
        adder({"hardening.kind=" + kind, "hardening.threshold=1", "hardening.steps=40",
               "network.parametrisation=walsh", "network.gradient_factor=1.1"});
    expect_resumable(experiment, 60, {17, 43});
    Trainer with(experiment);
    Trainer without(adder({"network.parametrisation=walsh", "network.gradient_factor=1.1"}));
    take(with, 10);
    take(without, 10);
    EXPECT_FALSE(same_bits(with.learner().model().parameters()[0].detach(),
                           without.learner().model().parameters()[0].detach()))
        << kind;
  }
}

TEST(Trainer, RejectsOptionsThatDoNotApplyToCircuits) {
  expect_error([] { adder({"hardening.kind=states"}); },
               "[experiment] test: hardening.kind = states is for automata only");
  expect_error([] { adder({"network.gradient_factor=0"}); },
               "[experiment] --set: expected network.gradient_factor to be a number above 0, "
               "received 0");
  expect_error(
      [] {
        adder({"task.kind=checkerboard", "network.gradient_factor=2"});
      },
      "[experiment] test: network.gradient_factor is for circuits only, received 2");
  expect_error(
      [] {
        adder({"network.parametrisation=walsh", "search.local_search=100"});
      },
      "[experiment] test: expected softmax16 or sigmoid for search.local_search, received walsh");
}

TEST(EpochOrder, GoesOnceThroughEveryCase) {
  const std::vector<std::int64_t> first = epoch_order(100, 0, 7);
  EXPECT_EQ(std::set<std::int64_t>(first.begin(), first.end()).size(), 100U);
  EXPECT_EQ(*std::ranges::max_element(first), 99);
  EXPECT_EQ(epoch_order(100, 0, 7), first);
  EXPECT_NE(epoch_order(100, 1, 7), first);
  EXPECT_NE(epoch_order(100, 0, 8), first);
}

TEST(EpochOrder, StepsPerEpochAreRoundedUp) {
  const auto steps = [&](const char* batch) {
    const std::vector<std::string> overrides{"task.bits=4", batch};
    return steps_per_epoch(parse_experiment("", "x", "x", "", overrides));
  };
  EXPECT_EQ(steps("training.batch=0"), 1);
  EXPECT_EQ(steps("training.batch=5"), 4);
  EXPECT_EQ(steps("training.batch=16"), 1);
}

TEST(MakeNetwork, UsesTheGivenWiring) {
  for (const char* wiring : {"random", "unique", "local"}) {
    const Experiment experiment = parse_experiment(
        "[network]\nhidden = [12]", "x", "x", "",
        std::vector<std::string>{std::string("network.wiring=") + wiring, "task.bits=6"});
    const logic::Network network = make_network(experiment, 6, 6);
    EXPECT_EQ(network.inputs(), 6);
    EXPECT_EQ(network.outputs(), 6);
    ASSERT_EQ(network.layers().size(), 2U);
    EXPECT_EQ(network.layers()[0].wiring->gates(), 12);
  }
}

}  // namespace
}  // namespace boolgrad::train
