// Members, curricula, restarts, local search and the best model.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "boolgrad/model/evaluation.h"
#include "boolgrad/train/learners/initial_model.h"
#include "boolgrad/train/run/run.h"
#include "boolgrad/train/search/local_search.h"
#include "boolgrad/train/search/member.h"
#include "boolgrad/train/search/trainer.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"
#include "tests/support/scratch.h"
#include "tests/support/trainer_checks.h"

namespace boolgrad::train {
namespace {

Experiment small(const std::vector<std::string>& overrides = {}) {
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
evaluation_starts = 3
[network]
init = "pass_through"
init_strength = 3
[training]
steps = 60
learning_rate = 0.1
[hardening]
kind = "gates"
threshold = 100
steps = 40
)",
                          "small", "small", "", overrides);
}

TEST(Restarts, HaveDistinctSeeds) {
  EXPECT_EQ(seed_of_restart(7, 0), 7);
  EXPECT_EQ(seed_of_restart(7, 3), seed_of_restart(7, 3));
  EXPECT_NE(seed_of_restart(7, 3), seed_of_restart(7, 4));
  EXPECT_NE(seed_of_restart(7, 3), seed_of_restart(8, 3));
  for (std::int64_t restart = 0; restart < 100; ++restart)
    EXPECT_GE(seed_of_restart(7, restart), 0);
}

TEST(Population, StoppedAndRestoredGivesTheSameBits) {
  // While all members train, and when only the best is left.
  expect_resumable(small({"search.members=3", "search.until=20"}), 30, {10, 20, 25});
}

TEST(Population, ThreadsDoNotChangeABit) {
  expect_same_on_any_threads(small({"search.members=3", "search.until=20"}), 25);
}

TEST(Population, TrainsEveryMemberLikeASeparateRun) {
  Trainer both(small({"search.members=2"}));
  take(both, 15);
  const TensorFile state = both.state();
  for (const std::int64_t restart : {0, 1}) {
    Trainer alone(small({"seed=" + std::to_string(seed_of_restart(3, restart))}));
    take(alone, 15);
    const Tensor expected = alone.learner().model().parameters().back();
    const std::string prefix = restart == 0 ? "" : "member.1.";
    bool found = false;
    for (const auto& [name, tensor] : state.tensors) {
      found = found || (name.starts_with(prefix) && tensor.shape() == expected.shape() &&
                        tensor.dtype() == expected.dtype() && same_bits(tensor, expected));
    }
    EXPECT_TRUE(found) << "restart " << restart;
  }
}

TEST(Population, ContinuesWithTheBestMember) {
  Trainer trainer(small({"search.members=4", "search.until=10"}));
  take(trainer, 9);
  EXPECT_EQ(trainer.members(), 4);
  take(trainer, 1);
  EXPECT_EQ(trainer.members(), 1);
  double best = 1e9;
  for (std::int64_t restart = 0; restart < 4; ++restart) {
    Trainer alone(small({"seed=" + std::to_string(seed_of_restart(3, restart))}));
    take(alone, 10);
    // Every member has its own evaluation starts.
    best = std::min(best, alone.evaluate().hard_loss);
  }
  EXPECT_EQ(trainer.evaluate().hard_loss, best);
}

TEST(Population, RejectsInvalidStates) {
  Trainer trainer(small({"search.members=2"}));
  TensorFile state = trainer.state();
  state.metadata["search.members"] = "3";
  expect_error([&] { trainer.restore(state, "state"); },
               "[resume] state: expected the number of members, received '3'");
  state.metadata["search.members"] = "2";
  state.metadata["search.leader"] = "2";
  expect_error([&] { trainer.restore(state, "state"); },
               "[resume] state: expected the index of the leader, received '2'");
}

/// Takes a step of both and expects the same loss.
void expect_same_step(Trainer& a, Trainer& b) {
  const double expected = b.step().loss;
  EXPECT_EQ(a.step().loss, expected) << "step " << a.steps();
}

/// A run with other sizes that continues from the state of `trainer`.
Trainer continued(const Trainer& trainer, const Experiment& experiment) {
  Trainer other(experiment);
  other.restore(trainer.state(), "state");
  return other;
}

TEST(Curriculum, ChangesSizesBetweenStages) {
  Trainer trainer(
      small({"curriculum.until=[3,5]", "curriculum.height=[4,6]", "curriculum.width=[3,5]",
             "curriculum.steps=[2,3]", "curriculum.batch=[5,1]"}));
  Trainer first(
      small({"automaton.height=4", "automaton.width=3", "automaton.steps=2", "automaton.batch=5"}));
  for (int i = 0; i < 3; ++i) expect_same_step(trainer, first);
  Trainer second = continued(trainer, small({"automaton.height=6", "automaton.width=5",
                                             "automaton.steps=3", "automaton.batch=1"}));
  for (int i = 0; i < 2; ++i) expect_same_step(trainer, second);
  Trainer last = continued(trainer, small());
  for (int i = 0; i < 2; ++i) expect_same_step(trainer, last);
}

TEST(Curriculum, GrowsAPictureFromItsMiddle) {
  const testing_support::ScratchFolder folder;
  const auto line = [&](const std::string& name, const std::string& cells, const std::string& steps,
                        const std::string& curriculum) {
    std::ofstream(folder / (name + ".txt")) << "........\n" + cells + "\n........\n";
    return parse_experiment("[task]\nkind = 'picture'\nfile = '" + name +
                                ".txt'\n[automaton]\nchannels = 2\nkernels = 1\nperceive = [8]\n"
                                "update = [6]\nheight = 3\nwidth = 8\nstart = 'seed'\nsteps = " +
                                steps + "\n" + curriculum,
                            "line", "line", folder / "");
  };
  Trainer trainer(line("all", "########", "4", "[curriculum]\nuntil = [2, 4]\nsteps = [1, 2]\n"));
  // One of four cells on each side of the seed, then two, then all.
  Trainer first(line("first", "...###..", "1", ""));
  for (int i = 0; i < 2; ++i) expect_same_step(trainer, first);
  Trainer second = continued(trainer, line("second", "..#####.", "2", ""));
  for (int i = 0; i < 2; ++i) expect_same_step(trainer, second);
  Trainer last = continued(trainer, line("last", "########", "4", ""));
  for (int i = 0; i < 2; ++i) expect_same_step(trainer, last);
}

TEST(Curriculum, IsEvaluatedOnTheWholeTask) {
  Trainer small_grids(small({"curriculum.until=[9]", "curriculum.height=[3]"}));
  Trainer whole(small());
  EXPECT_EQ(small_grids.evaluate().hard_loss, whole.evaluate().hard_loss);
  EXPECT_EQ(small_grids.evaluate().soft_loss, whole.evaluate().soft_loss);
}

TEST(Curriculum, StoppedAndRestoredGivesTheSameBits) {
  expect_resumable(small({"curriculum.until=[5,10]", "curriculum.height=[4,5]",
                          "curriculum.steps=[2,3]", "search.members=2"}),
                   20, {3, 5, 8, 10, 15});
}

TEST(Restart, HappensWhenTrainingIsStuck) {
  const auto options = [](const char* kind) {
    return small({std::string("search.restart=") + kind, "search.patience=8", "search.every=4",
                  "training.learning_rate=1e-9"});
  };
  // Nothing is learned at this learning rate: the first evaluation, after 4 steps, stays the best.
  Trainer fresh(options("fresh"));
  const TensorFile before = fresh.state();
  take(fresh, 11);
  EXPECT_EQ(fresh.state().metadata.at("search.draw"), "0");
  take(fresh, 1);
  EXPECT_EQ(fresh.state().metadata.at("search.draw"), "3");
  EXPECT_EQ(fresh.state().metadata.at("search.updates"), "0");
  Trainer best(options("best"));
  take(best, 12);
  EXPECT_EQ(best.state().metadata.at("search.draw"), "0");
}

TEST(Restart, StoppedAndRestoredGivesTheSameBits) {
  for (const char* kind : {"search.restart=fresh", "search.restart=best"}) {
    expect_resumable(small({kind, "search.patience=4", "search.every=2", "search.keep_best=true",
                            "search.members=2"}),
                     24, {3, 7, 12, 19});
  }
}

TEST(Restart, GoesBackToTheBestModel) {
  // Training diverges at this learning rate.
  Trainer trainer(small({"search.keep_best=true", "search.every=1", "training.learning_rate=2"}));
  double best = 1e9;
  for (int i = 0; i < 30; ++i) {
    take(trainer, 1);
    best = std::min(best, trainer.evaluate().hard_loss);
  }
  trainer.take_best();
  EXPECT_EQ(trainer.evaluate().hard_loss, best);
}

/// A single gate that should become XOR.
std::unique_ptr<Learner> one_gate(const std::string& parametrisation, std::vector<float> logits) {
  std::unique_ptr<Learner> learner = make_learner(parse_experiment(
      "[task]\nkind = \"xor\"\nbits = 2\n[network]\nparametrisation = \"" + parametrisation + "\"",
      "xor", "xor", ""));
  std::vector<Tensor> parameters = learner->model().parameters();
  std::ranges::copy(logits, parameters[0].mutable_values<float>().begin());
  return learner;
}

TEST(LocalSearch, FlipsTheLeastCertainTableEntry) {
  const auto learner = one_gate("sigmoid", {0.1F, 3, 2, -3});
  const LocalSearchStats stats = local_search(*learner, {.candidates = 1});
  EXPECT_EQ(stats.before, 1);
  EXPECT_EQ(stats.after, 0);
  EXPECT_EQ(stats.tried, 1);
  EXPECT_EQ(stats.accepted, 1);
  const Tensor logits = learner->model().parameters()[0];
  EXPECT_EQ(logits.at(0), -0.1F);
  EXPECT_EQ(logits.at(2), 2);
}

TEST(LocalSearch, SwapsTheTwoMostLikelyGates) {
  std::vector<float> logits(16, 0);
  logits[6] = 2;  // XOR
  logits[7] = 3;  // OR
  const auto learner = one_gate("softmax16", logits);
  const LocalSearchStats stats = local_search(*learner, {.candidates = 1});
  EXPECT_EQ(stats.before, 1);
  EXPECT_EQ(stats.after, 0);
  EXPECT_EQ(learner->model().parameters()[0].at(6), 3);
  EXPECT_EQ(learner->model().parameters()[0].at(7), 2);
}

TEST(LocalSearch, ContinuesWhileMovesHelp) {
  const auto learner = one_gate("sigmoid", {3, -0.1F, -0.2F, -3});
  const LocalSearchStats single = local_search(*learner, {.candidates = 1});
  EXPECT_EQ(single.after, 2) << "one of three errors is fixed";
  const auto other = one_gate("sigmoid", {0.3F, -0.1F, -0.2F, -3});
  EXPECT_EQ(local_search(*other, {.candidates = 3}).after, 0);
}

TEST(LocalSearch, UndoesMovesThatDoNotHelp) {
  const std::unique_ptr<Learner> learner = make_learner(small());
  const TensorFile before = learner->model().to_file();
  std::vector<Tensor> copies;
  for (const Tensor& parameter : learner->model().parameters()) copies.push_back(parameter.clone());
  const LocalSearchStats stats = local_search(*learner, {.candidates = 0});
  EXPECT_EQ(stats.tried, 0);
  EXPECT_EQ(stats.before, stats.after);
  const LocalSearchStats tried = local_search(*learner, {.candidates = 30});
  EXPECT_LE(tried.after, tried.before);
  EXPECT_EQ(tried.after, learner->hard_loss());
  if (tried.accepted > 0) return;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    EXPECT_TRUE(same_bits(copies[i], learner->model().parameters()[i]));
  }
}

TEST(LocalSearch, MakesRandomMoves) {
  // Both middle entries are wrong. Only random moves are tried.
  const auto learner = one_gate("sigmoid", {-3, -4, -5, -3});
  const LocalSearchStats stats =
      local_search(*learner, {.candidates = 0, .random_moves = 200, .seed = 4});
  EXPECT_EQ(stats.before, 2);
  EXPECT_EQ(stats.after, 0);
  EXPECT_LT(stats.tried, 200) << "it stops when no error is left";
  const auto again = one_gate("sigmoid", {-3, -4, -5, -3});
  EXPECT_EQ(local_search(*again, {.candidates = 0, .random_moves = 200, .seed = 4}).tried,
            stats.tried);
}

TEST(LocalSearchInTraining, ChangesNothingUnlessItSolvesTheTask) {
  Trainer plain(small());
  Trainer searched(small(
      {"search.local_search=5", "search.local_search_every=5", "search.local_search_max_error=1"}));
  take(plain, 15);
  take(searched, 15);
  ASSERT_GT(searched.evaluate().hard_loss, 0);
  for (std::size_t i = 0; i < plain.learner().model().parameters().size(); ++i) {
    EXPECT_TRUE(same_bits(plain.learner().model().parameters()[i],
                          searched.learner().model().parameters()[i]));
  }
}

TEST(LocalSearchInTraining, StartsFromTheBestModelSinceTheLastOne) {
  // A table that is one entry away from XOR when it is recorded, and two when the search begins.
  const Experiment experiment = parse_experiment(R"(
[task]
kind = "xor"
bits = 2
[training]
steps = 9
learning_rate = 1e-9
[search]
every = 1
local_search = 1
local_search_every = 2
local_search_max_error = 1
)",
                                                 "xor", "xor", "");
  Trainer trainer(experiment);
  const auto set = [&](const std::vector<float>& logits) {
    Tensor parameter = trainer.learner().model().parameters()[0];
    std::ranges::copy(logits, parameter.mutable_values<float>().begin());
  };
  set({-3, 3, -1, -3});
  trainer.step();
  set({3, -3, -1, 2});
  trainer.step();
  EXPECT_EQ(trainer.evaluate().hard_loss, 0);
}

TEST(LocalSearchInTraining, EndsARunThatItSolves) {
  // One gate that should become XOR. Nothing is learned at this learning rate.
  const Experiment experiment = parse_experiment(R"(
[task]
kind = "xor"
bits = 2
[training]
steps = 7
learning_rate = 1e-9
log_every = 100
[search]
local_search = 4
local_search_every = 3
local_search_max_error = 1
)",
                                                 "xor", "xor", "");
  const testing_support::ScratchFolder folder;
  const RunReport report = run_experiment(experiment, {.folder = folder / "run"});
  EXPECT_EQ(report.ending, Ending::solved);
  EXPECT_EQ(report.last.step, 3);
}

TEST(LocalSearchInTraining, StoppedAndRestoredGivesTheSameBits) {
  expect_resumable(
      small({"search.local_search=8", "search.local_search_random_moves=4",
             "search.local_search_every=5", "search.local_search_max_error=1", "search.members=2"}),
      20, {4, 10, 13});
}

TEST(LocalSearchInTraining, ThreadsDoNotChangeABit) {
  expect_same_on_any_threads(
      small({"search.local_search=8", "search.local_search_random_moves=4",
             "search.local_search_every=5", "search.local_search_max_error=1"}),
      12);
}

TEST(Saturation, MakesTheSoftModelEqualToTheHardOne) {
  for (const char* parametrisation : {"sigmoid", "softmax16"}) {
    Trainer trainer(small({std::string("network.parametrisation=") + parametrisation}));
    take(trainer, 10);
    const double hard = trainer.evaluate().hard_loss;
    const std::vector<Tensor> before = trainer.learner().model().rule().hard_tables();
    trainer.saturate();
    EXPECT_EQ(trainer.evaluate().hard_loss, hard);
    const std::vector<Tensor> soft = trainer.learner().model().rule().tables();
    for (std::size_t layer = 0; layer < soft.size(); ++layer) {
      for (std::int64_t i = 0; i < soft[layer].size(); ++i) {
        ASSERT_NEAR(soft[layer].at(i), before[layer].at(i), 1e-15);
      }
    }
  }
}

TEST(Search, EvaluationIgnoresTrainingOptions) {
  const Experiment experiment =
      small({"curriculum.until=[9]", "curriculum.height=[3]", "search.members=3",
             "automaton.pool=4", "automaton.loss_steps=2", "automaton.extra_steps=1",
             "automaton.training_fire_rate=0.5", "training.gate_penalty=1"});
  const ModelSpec spec = parse_model_spec(to_toml(experiment), "test", "test");
  EXPECT_EQ(spec.automaton.height, 6);
  const automata::Rule rule = make_rule(experiment);
  const Evaluation expected = Trainer(small()).evaluate();
  const Evaluation evaluation = evaluate(rule, spec);
  EXPECT_EQ(evaluation.soft_loss, expected.soft_loss);
  EXPECT_EQ(evaluation.hard_loss, expected.hard_loss);
}

TEST(Search, BadValuesHaveClearMessages) {
  const auto message = [](const std::vector<std::string>& overrides, const std::string& expected) {
    expect_error([&] { small(overrides); }, "[experiment] " + expected);
  };
  message({"search.members=0"},
          "--set: expected search.members to be an integer from 1 to 4096, received 0");
  message({"search.restart=again"},
          "--set: expected search.restart to be none, fresh or best, received 'again'");
  message({"curriculum.until=[5,5]"},
          "small: expected curriculum.until to be increasing, received [5, 5]");
  message({"curriculum.until=[5]", "curriculum.steps=[2,3]"},
          "small: expected curriculum.steps with 1 values, one per stage of curriculum.until, "
          "received 2");
  message({"curriculum.until=[5]", "curriculum.height=[2]", "automaton.border=periodic"},
          "small: expected at least 3 cells per side with periodic borders, received 2");
  message(
      {"curriculum.until=[5]", "curriculum.height=[8]", "task.kind=life", "automaton.channels=1"},
      "small: curriculum.height and curriculum.width are for the checkerboard only, not life");
  message({"curriculum.until=[5]", "task.kind=add"}, "small: a curriculum is for automata only");
  message({"search.members=2", "task.kind=add", "knockout.pattern=random"},
          "small: expected search.members = 1 with a knockout, received 2");
}

}  // namespace
}  // namespace boolgrad::train
