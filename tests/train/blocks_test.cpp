#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "boolgrad/core/parallel.h"
#include "boolgrad/train/learners/block_sum.h"
#include "boolgrad/train/run/checkpoint.h"
#include "boolgrad/train/run/run.h"
#include "boolgrad/train/search/trainer.h"
#include "tests/support/messages.h"
#include "tests/support/scratch.h"
#include "tests/support/thread_group.h"

namespace boolgrad::train {
namespace {

namespace fs = std::filesystem;

using testing_support::read_bytes;
using testing_support::run_as_ranks;
using testing_support::ScratchFolder;

constexpr const char* circuit = R"(
name = "circuit"
[task]
kind = "add"
bits = 6
[network]
hidden = [64, 32]
arity = 3
candidates = 4
redraw_every = 6
[training]
batch = 32
blocks = 8
gate_penalty = 0.01
steps = 20
learning_rate = 0.1
log_every = 5
checkpoint_every = 10
stop_when_solved = false
)";

constexpr const char* classifier = R"(
name = "classifier"
[task]
kind = "monk1"
[network]
hidden = [48]
[head]
kind = "classes"
outputs = 40
[binarise]
learn = true
[training]
batch = 40
blocks = 8
gate_penalty = 0.01
steps = 20
learning_rate = 0.1
log_every = 5
checkpoint_every = 10
stop_when_solved = false
)";

constexpr const char* automaton = R"(
name = "automaton"
[task]
kind = "checkerboard"
[automaton]
channels = 2
kernels = 2
perceive = [8, 4]
update = [8]
height = 5
width = 6
steps = 3
extra_steps = 2
batch = 16
fire_rate = 0.6
pool = 32
[network]
parametrisation = "softmax16"
[training]
blocks = 8
steps = 20
gate_penalty = 0.01
log_every = 5
checkpoint_every = 10
stop_when_solved = false
)";

class BlocksTest : public testing::TestWithParam<const char*> {
 protected:
  static Experiment experiment(std::vector<std::string> overrides = {}) {
    return parse_experiment(GetParam(), "blocks", "blocks", "", overrides);
  }

  /// Trains as `ranks` ranks.
  void train(int ranks, const fs::path& folder, const std::vector<std::string>& overrides = {},
             bool resume = false) {
    run_as_ranks(ranks, [&](Group& group) {
      Trainer trainer(experiment(overrides), {}, group);
      run_training(trainer, {.folder = folder, .resume = resume});
    });
  }

  /// The files of a run whose content does not depend on time.
  static std::string files_of(const fs::path& folder) {
    const TensorFile checkpoint = load_checkpoint(folder / checkpoint_file).state;
    std::string text;
    for (const auto& [name, tensor] : checkpoint.tensors) {
      const auto* bytes = static_cast<const char*>(tensor.data());
      text += name + std::string(bytes, tensor.bytes());
    }
    return text + read_bytes(folder / model_file);
  }

  ScratchFolder scratch_;
};

TEST_P(BlocksTest, AnyNumberOfRanksGivesTheSameBits) {
  train(1, scratch_ / "1");
  for (const int ranks : {2, 4, 8}) {
    const fs::path folder = scratch_ / std::to_string(ranks);
    train(ranks, folder);
    EXPECT_EQ(files_of(folder), files_of(scratch_ / "1")) << ranks;
  }
}

TEST_P(BlocksTest, RunsContinueOnAnotherNumberOfRanks) {
  train(1, scratch_ / "whole");
  train(4, scratch_ / "parts", {"training.steps=10"});
  train(2, scratch_ / "parts", {"training.steps=15"}, true);
  train(1, scratch_ / "parts", {}, true);
  EXPECT_EQ(files_of(scratch_ / "parts"), files_of(scratch_ / "whole"));
}

/// Up to rounding, and without random numbers that depend on it, a split batch is a batch.
TEST_P(BlocksTest, LossesAreThoseOfTheWholeBatch) {
  Trainer split(experiment());
  Trainer whole(experiment({"training.blocks=1"}));
  for (int step = 0; step < 5; ++step) {
    const double expected = whole.step().loss;
    EXPECT_NEAR(split.step().loss, expected, 1e-4 * expected) << step;
  }
}

TEST_P(BlocksTest, ARankThatIsAskedToStopStopsAll) {
  run_as_ranks(2, [&](Group& group) {
    Trainer trainer(experiment(), {}, group);
    int steps = 0;
    const RunReport report = run_training(trainer, {.folder = scratch_ / "stopped", .stop = [&] {
                                                      return ++steps == 7 && group.rank() == 1;
                                                    }});
    EXPECT_EQ(report.ending, Ending::stopped);
    EXPECT_EQ(report.last.step, 7);
  });
  EXPECT_FALSE(fs::exists(scratch_ / "stopped" / model_file));
  train(2, scratch_ / "stopped", {}, true);
  train(1, scratch_ / "whole");
  EXPECT_EQ(files_of(scratch_ / "stopped"), files_of(scratch_ / "whole"));
}

INSTANTIATE_TEST_SUITE_P(All, BlocksTest, testing::Values(circuit, classifier, automaton),
                         [](const auto& info) {
                           return parse_experiment(info.param, "", "", "").name;
                         });

TEST(Blocks, HaveToFit) {
  expect_error([] { Blocks(single_process(), 8, 100); },
               "[train] expected a batch that training.blocks = 8 divides, received 100");
  run_as_ranks(4, [](Group& group) {
    expect_error([&] { Blocks(group, 2, 100); },
                 "[train] expected training.blocks to be a multiple of the 4 ranks, received 2");
  });
  expect_error(
      [] { parse_experiment("[task]\nkind = 'add'\n[training]\nblocks = 6\n", "a.toml", "", ""); },
      "[experiment] a.toml: expected training.blocks to be 1, 2, 4, 8, ..., received 6");
}

}  // namespace
}  // namespace boolgrad::train
