#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/cli/run_cli.h"

namespace boolgrad {
namespace {

namespace fs = std::filesystem;

using nlohmann::json;
using testing_support::CliResult;
using testing_support::run_cli;
using testing_support::ScratchFolder;
using testing_support::wait_for;
using testing_support::write_bytes;

class SweepTest : public testing::Test {
 protected:
  CliResult sweep(std::vector<std::string> words) {
    words.insert(words.begin(), "sweep");
    words.insert(words.end(), {"--out", out_});
    return run_cli(words);
  }

  ScratchFolder scratch_;
  std::string out_ = (scratch_ / "sweep").string();
};

TEST_F(SweepTest, CountsConvergedSeeds) {
  const CliResult result = sweep({"add", "--seeds", "3", "--first-seed", "2", "--json"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "") << "no progress where no terminal is";
  EXPECT_NE(result.out.find("add: 3 of 3 converged, median "), std::string::npos) << result.out;
  const json answer = result.json();
  EXPECT_EQ(answer["seeds"], 3);
  EXPECT_EQ(answer["converged"], 3);
  ASSERT_EQ(answer["steps_to_converge"].size(), 3U);
  for (const json& steps : answer["steps_to_converge"]) EXPECT_GT(steps, 0);
  EXPECT_EQ(answer["stopped"], false);
  EXPECT_FALSE(answer.contains("variants"));
  for (const char* file : {"sweep.csv", "converged.png", "soft_against_hard.png",
                           "seed-2/model.safetensors", "seed-4/metrics.jsonl"}) {
    EXPECT_TRUE(fs::exists(out_ + "/" + file)) << file;
  }
  // A run of a sweep is an ordinary run.
  const json trained = run_cli({"train", "add", "--seed", "3", "--json", "--quiet", "--out",
                                (scratch_ / "run").string()})
                           .json();
  EXPECT_EQ(answer["steps_to_converge"][1], trained["steps"]);
}

TEST_F(SweepTest, VariesKeys) {
  const json answer = sweep({"xor", "--seeds", "2", "--vary", "training.learning_rate=0.001,0.2",
                             "--steps", "60", "--json", "--quiet"})
                          .json();
  EXPECT_EQ(answer["seeds"], 2);
  EXPECT_EQ(answer["runs"], 4);
  ASSERT_EQ(answer["variants"].size(), 2U);
  EXPECT_EQ(answer["variants"][0]["values"]["training.learning_rate"], "0.001");
  EXPECT_EQ(answer["variants"][0]["converged"], 0);
  EXPECT_EQ(answer["variants"][0]["steps_to_converge"], json({nullptr, nullptr}));
  EXPECT_EQ(answer["variants"][1]["converged"], 2);
  EXPECT_EQ(answer["converged"], 2);
}

TEST_F(SweepTest, StopsOnASignalAndResumes) {
  const std::string small = (scratch_ / "small.toml").string();
  write_bytes(small, R"(
[task]
kind = "xor"
bits = 4
[network]
hidden = [32, 16]
arity = 4
[training]
steps = 400
learning_rate = 0.2
loss = "l4"
stop_when_solved = false
)");
  std::vector<std::string> command = {BOOLGRAD_CLI, "sweep", small,     "--seeds", "6",
                                      "--jobs",     "2",     "--quiet", "--out",   out_};
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t process = 0;
  ASSERT_EQ(posix_spawn(&process, argv[0], nullptr, nullptr, argv.data(), environ), 0);
  // Metrics are written after the signal handlers are installed.
  while (!fs::exists(out_ + "/seed-1/metrics.jsonl")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(process, SIGINT);
  EXPECT_EQ(wait_for(process), 0);
  EXPECT_TRUE(fs::exists(out_ + "/sweep.csv"));
  std::vector<std::string> again(command.begin() + 1, command.end());
  again.emplace_back("--json");
  const json answer = run_cli(again).json();
  EXPECT_EQ(answer["stopped"], false);
  EXPECT_EQ(answer["runs"], 6);
  EXPECT_EQ(answer["converged"], 6);
}

TEST_F(SweepTest, ReportsErrors) {
  const auto complaint = [&](const std::vector<std::string>& words, int code) {
    const CliResult result = sweep(words);
    EXPECT_EQ(result.code, code) << result.err;
    return result.complaint();
  };
  EXPECT_EQ(complaint({"add"}, 2), "[sweep] expected --seeds of at least 1, received none");
  EXPECT_EQ(complaint({"add", "--seeds", "0"}, 2),
            "[sweep] expected --seeds of at least 1, received 0");
  EXPECT_EQ(complaint({"add", "--seeds", "1", "--first-seed", "-1"}, 2),
            "[sweep] expected --first-seed of at least 0, received -1");
  EXPECT_EQ(complaint({"add", "--seeds", "1", "--jobs", "0"}, 2),
            "[sweep] expected --jobs of at least 1, received 0");
  EXPECT_EQ(complaint({"add", "--seeds", "1", "--jobs", "2", "--device", "cuda"}, 2),
            "[sweep] expected --jobs 1 on cuda, received 2");
  EXPECT_TRUE(complaint({"ad", "--seeds", "1"}, 2).ends_with("(did you mean 'add'?)"));
  EXPECT_TRUE(complaint({"--seeds", "1"}, 2).starts_with("[sweep] expected an experiment (add, "));
  EXPECT_EQ(complaint({"add", "--seeds", "1", "--set", "training.step=3"}, 1),
            "[experiment] --set: unknown key 'training.step', did you mean 'training.steps'?");
  EXPECT_EQ(complaint({"add", "--seeds", "1", "--vary", "training.loss=l4,l5"}, 1).substr(0, 47),
            "[experiment] --vary: expected training.loss to ");
  EXPECT_FALSE(fs::exists(out_)) << "nothing was begun";
  sweep({"add", "--seeds", "1"});
  EXPECT_EQ(complaint({"xor", "--seeds", "1"}, 1),
            "[sweep] " + out_ +
                ": the sweep in this folder was started with name = 'add', received name = 'xor'");
}

TEST_F(SweepTest, FailsIfEveryRunFails) {
  fs::create_directories(out_);
  write_bytes(out_ + "/seed-1", "in the way");
  write_bytes(out_ + "/seed-2", "in the way");
  const CliResult result = sweep({"add", "--seeds", "2"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(result.complaint().starts_with("[sweep] all 2 runs failed, the first with: [train] "))
      << result.complaint();
}

}  // namespace
}  // namespace boolgrad
