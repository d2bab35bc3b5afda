#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/backend/device/devices.h"
#include "boolgrad/model/model.h"
#include "boolgrad/picture/png.h"
#include "tests/cli/run_cli.h"

#include "tests/support/devices.h"
namespace boolgrad {
namespace {

namespace fs = std::filesystem;

using nlohmann::json;
using testing_support::CliResult;
using testing_support::read_bytes;
using testing_support::run_cli;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

/// Automata that train within a second.
class TrainAutomatonTest : public testing::Test {
 protected:
  TrainAutomatonTest() {
    write_bytes(scratch_ / "small.toml", R"(
[task]
kind = "checkerboard"
[automaton]
channels = 3
kernels = 2
perceive = [8, 4]
update = [16]
height = 6
width = 6
steps = 9
fire_rate = 0.6
evaluation_starts = 5
[network]
parametrisation = "softmax16"
init = "pass_through"
[training]
steps = 12
log_every = 4
)");
    write_bytes(scratch_ / "arrow.txt", "#...\n##..\n###.\n");
  }

  CliResult train(std::vector<std::string> words) {
    words.insert(words.begin(), {"train", (scratch_ / "small.toml").string()});
    words.insert(words.end(), {"--out", out_});
    return run_cli(words);
  }

  ScratchFolder scratch_;
  std::string out_ = (scratch_ / "run").string();
  std::string arrow_ = (scratch_ / "arrow.txt").string();
};

TEST_F(TrainAutomatonTest, PrintsNoMemoryPolicyForOtherDevices) {
  if (!why_unavailable(vulkan_device).empty()) GTEST_SKIP() << why_unavailable(vulkan_device);
  const CliResult result = train({"--device", "vulkan"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out.find("memory"), std::string::npos) << result.out;
}

TEST_F(TrainAutomatonTest, PrintsMemoryPolicyAndEvaluationStarts) {
  const CliResult result = train({"--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with("memory  the state of every step, ")) << result.out;
  EXPECT_NE(result.out.find(" (every activation "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find(", every 3rd state "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("% of 5 evaluation starts, "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("  plots          " + out_ + "/losses.png, gates.png\n"),
            std::string::npos)
      << result.out;
  EXPECT_EQ(result.json()["steps"], 12);
  EXPECT_TRUE(fs::exists(out_ + "/gates.png"));
  EXPECT_EQ(train({"--quiet"}).out, "");
}

TEST_F(TrainAutomatonTest, LifeIsTrainedFromAllGrids) {
  const CliResult result =
      run_cli({"train", "life", "--set", "automaton.kernels=2", "--set", "automaton.update=[8]",
               "--steps", "5", "--out", out_, "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("% of 512 evaluation starts, "), std::string::npos) << result.out;
  EXPECT_EQ(result.json()["steps"], 5);
  const json evaluation =
      run_cli({"eval", out_ + "/model.safetensors", "--json", "--quiet"}).json();
  EXPECT_EQ(evaluation["hard_loss"], result.json()["hard_loss"]);
}

TEST_F(TrainAutomatonTest, StoppedAndResumedGivesTheSameModel) {
  EXPECT_EQ(train({"--quiet"}).code, 0);
  const std::string straight = read_bytes(out_ + "/model.safetensors");
  EXPECT_EQ(train({"--quiet", "--steps", "5", "--overwrite"}).code, 0);
  EXPECT_NE(read_bytes(out_ + "/model.safetensors"), straight);
  EXPECT_EQ(train({"--quiet", "--resume"}).code, 0);
  EXPECT_EQ(read_bytes(out_ + "/model.safetensors"), straight);
}

TEST_F(TrainAutomatonTest, ATargetIsShownAndLearned) {
  const CliResult result = train({"--target", arrow_, "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with("##......\n####....\n######..\ntarget  " + arrow_ +
                                     ", 3x4 cells in black and white\nmemory  "))
      << result.out;
  const json run = run_cli({"run", out_ + "/model.safetensors", "--json", "--quiet"}).json();
  EXPECT_EQ(run["height"], 3);
  EXPECT_EQ(run["width"], 4);
  EXPECT_TRUE(run["wrong_bits"].is_number_integer());
}

TEST_F(TrainAutomatonTest, APictureIsScaledToTheGrid) {
  const std::string path = (scratch_ / "halves.png").string();
  picture::Image halves = picture::filled_image(60, 60, {250, 20, 10});
  for (std::int64_t y = 0; y < 60; ++y) {
    for (std::int64_t x = 30; x < 60; ++x) halves.at(x, y) = {10, 240, 230};
  }
  picture::write_png(path, halves);
  const CliResult result = train({"--target", path});
  EXPECT_EQ(result.code, 0) << result.err;
  const std::string row = "------******\n";  // red and cyan
  EXPECT_TRUE(result.out.starts_with(row + row + row + row + row + row + "target  " + path +
                                     ", 6x6 cells in eight colours\n"))
      << result.out;
  const CliResult refused = train({"--target", path, "--set", "automaton.channels=2"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.complaint(),
            "[target] expected an automaton of at least 3 channels for this target, received 2");
}

TEST_F(TrainAutomatonTest, APictureOfOnesOwnSetsTheGridAndTheName) {
  const std::string path = (scratch_ / "My heart.png").string();
  picture::Image heart = picture::filled_image(5, 4, picture::white);
  for (const auto& [x, y] : {std::pair{1, 0}, {3, 0}, {0, 1}, {2, 1}, {4, 1}, {2, 2}, {2, 3}}) {
    heart.at(x, y) = {200, 20, 30};
  }
  picture::write_png(path, picture::enlarged(heart, 20));
  const CliResult result =
      run_cli({"train", "picture", "--target", path, "--set", "automaton.channels=4", "--set",
               "automaton.update=[16]", "--steps", "2", "--out", out_, "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with("..##..##..\n##..##..##\n....##....\n....##....\ntarget  " +
                                     path + ", 4x5 cells in black and white\n"))
      << result.out;
  EXPECT_EQ(result.json()["experiment"], "My heart");
  const LoadedModel loaded = load_model(out_ + "/model.safetensors");
  EXPECT_EQ(loaded.spec->automaton.height, 4);
  EXPECT_EQ(loaded.spec->automaton.width, 5);
  EXPECT_EQ(loaded.spec->automaton.steps, 6);
  EXPECT_EQ(loaded.spec->automaton.stay_steps, 6);
  const CliResult evaluated = run_cli({"eval", out_, "--json"});
  EXPECT_EQ(evaluated.json()["stays"]["steps"], 0);
  EXPECT_NE(evaluated.out.find("\n  the picture is wrong after its 6 steps\n"), std::string::npos)
      << evaluated.out;
  const CliResult none = run_cli({"train", "picture", "--out", out_, "--overwrite"});
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.complaint(),
            "[target] expected a picture, such as --target heart.png, received none");
}

TEST_F(TrainAutomatonTest, ObeysTheMemoryLimit) {
  const CliResult result = train({"--memory", "14000"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with("memory  every 3rd state, ")) << result.out;
  const CliResult refused = train({"--memory", "10B"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_TRUE(refused.complaint().starts_with("[memory] a rollout of 9 steps needs at least "))
      << refused.err;
  EXPECT_EQ(train({"--memory", "much"}).complaint(),
            "[experiment] --set: expected automaton.memory to be a size such as \"200MB\", or "
            "empty, received 'much'");
}

TEST_F(TrainAutomatonTest, ReportsErrors) {
  const auto complaint = [&](const std::vector<std::string>& words, int code) {
    const CliResult result = run_cli(words);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_EQ(result.out, "");
    return result.complaint();
  };
  EXPECT_EQ(complaint({"train", "add", "--out", out_, "--target", arrow_}, 2),
            "[train] --target is for automata that grow a pattern and for CSV files, not for add");
  EXPECT_EQ(complaint({"train", "life", "--out", out_, "--target", arrow_}, 2),
            "[train] --target is for automata that grow a pattern and for CSV files, not for life");
  EXPECT_EQ(complaint({"train", "add", "--out", out_, "--memory", "1MB"}, 2),
            "[train] --memory is for automata, not for add");
  EXPECT_EQ(complaint({"train", "checkerboard", "--out", out_, "--target", "none.txt"}, 1),
            "[bitmap] cannot read none.txt: No such file or directory");
  EXPECT_FALSE(fs::exists(out_)) << "nothing was started";
  EXPECT_EQ(complaint({"train", "checkerboard", "--out", arrow_}, 1),
            "[train] cannot create the folder " + arrow_ + ": Not a directory");
}

TEST_F(TrainAutomatonTest, ChecksTheOutputFolderFirst) {
  // A folder cannot be replaced by a file, not even by root.
  fs::create_directories(scratch_ / "run/checkpoint.safetensors");
  const CliResult result = train({});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.complaint(),
            "[train] cannot replace " + out_ + "/checkpoint.safetensors: not a regular file");
}

}  // namespace
}  // namespace boolgrad
