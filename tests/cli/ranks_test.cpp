// Training, sweeps and devices with several ranks of mpirun.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/cli/run_cli.h"
#include "tests/support/tools.h"

namespace boolgrad {
namespace {

namespace fs = std::filesystem;

using nlohmann::json;
using testing_support::CliResult;
using testing_support::read_bytes;
using testing_support::run_cli;
using testing_support::run_tool;
using testing_support::ScratchFolder;
using testing_support::wait_for;
using testing_support::write_bytes;

const std::vector<std::string> launcher = {"--oversubscribe", "--allow-run-as-root", "-q", "-n"};

class RanksTest : public testing::Test {
 protected:
  void SetUp() override {
    // Open MPI keeps memory and closes the libraries that it is from, so leaks of them have no
    // names that a sanitizer could leave out.
    const char* const options = std::getenv("ASAN_OPTIONS");
    const std::string others = options == nullptr ? "" : options;
    setenv("ASAN_OPTIONS", (others + ":detect_leaks=0").c_str(), 1);
    mpirun_ = run_tool("command -v mpirun").output;
    if (!mpirun_.empty()) mpirun_.pop_back();  // the end of the line
    const std::string mpi = run_cli({"devices", "--json", "--quiet"}).json()["mpi"];
    if (mpirun_.empty() || !mpi.starts_with("built in")) {
      GTEST_SKIP() << "no MPI: mpirun '" << mpirun_ << "', boolgrad: " << mpi;
    }
  }

  /// `mpirun -n ranks boolgrad ...`.
  CliResult run(int ranks, const std::vector<std::string>& words) const {
    return run_cli(arguments(ranks, words), "", mpirun_);
  }

  std::vector<std::string> arguments(int ranks, const std::vector<std::string>& words) const {
    std::vector<std::string> all = launcher;
    all.push_back(std::to_string(ranks));
    all.emplace_back(BOOLGRAD_CLI);
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }

  std::string folder(const std::string& name) const { return (scratch_ / name).string(); }

  /// Trains with every number of ranks, and expects the same models.
  void expect_same_bits(const std::vector<std::string>& train) const {
    const auto with = [&](const std::string& name) {
      std::vector<std::string> words = train;
      words.insert(words.end(), {"--quiet", "--out", folder(name)});
      return words;
    };
    std::vector<std::string> alone = with("1");
    alone.insert(alone.end(), {"--set", "training.blocks=8"});
    const CliResult one = run_cli(alone);
    ASSERT_EQ(one.code, 0) << one.err;
    const std::string expected = read_bytes(folder("1") + "/model.safetensors");
    for (const int ranks : {1, 2, 4}) {
      const std::string name = fmt::format("{} ranks", ranks);
      const CliResult result = run(ranks, with(name));
      EXPECT_EQ(result.code, 0) << result.err;
      EXPECT_EQ(read_bytes(folder(name) + "/model.safetensors"), expected) << name;
    }
  }

  ScratchFolder scratch_;
  std::string mpirun_;
};

TEST_F(RanksTest, GiveTheSameCircuit) { expect_same_bits({"train", "add", "--steps", "60"}); }

TEST_F(RanksTest, GiveTheSameClassifier) {
  expect_same_bits({"train", "monk1", "--steps", "40", "--set", "training.batch=32"});
}

TEST_F(RanksTest, GiveTheSameAutomaton) {
  expect_same_bits({"train", "checkerboard-async", "--steps", "4", "--set", "automaton.batch=8",
                    "--set", "curriculum.batch=[]", "--set", "search.members=2"});
}

TEST_F(RanksTest, RunsContinueOnOtherNumbersOfRanks) {
  const auto train = [&](int ranks, const std::string& steps, bool resume) {
    std::vector<std::string> words = {
        "train", "add",           "--steps", steps,
        "--out", folder("parts"), "--set",   "training.stop_when_solved=false"};
    if (resume) words.emplace_back("--resume");
    const CliResult result = run(ranks, words);
    EXPECT_EQ(result.code, 0) << result.err;
  };
  train(4, "20", false);
  train(2, "35", true);
  train(1, "50", true);
  run_cli({"train", "add", "--steps", "50", "--out", folder("whole"), "--set", "training.blocks=8",
           "--set", "training.stop_when_solved=false"});
  EXPECT_EQ(read_bytes(folder("parts") + "/model.safetensors"),
            read_bytes(folder("whole") + "/model.safetensors"));
}

TEST_F(RanksTest, AKilledRankEndsTheJobAndTheCheckpointStands) {
  const std::vector<std::string> train = {"train",   "add",
                                          "--steps", "1000000",
                                          "--set",   "training.stop_when_solved=false",
                                          "--set",   "training.checkpoint_every=10",
                                          "--out",   folder("run")};
  std::vector<std::string> words = arguments(2, train);
  words.insert(words.begin(), mpirun_);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t process = 0;
  ASSERT_EQ(posix_spawn(&process, argv[0], nullptr, nullptr, argv.data(), environ), 0);
  while (!fs::exists(folder("run") + "/checkpoint.safetensors")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const std::string children =
      read_bytes(fmt::format("/proc/{0}/task/{0}/children", process));  // numbers and spaces
  ASSERT_EQ(std::ranges::count(children, ' '), 2) << children;
  kill(std::stoi(children.substr(children.find(' ') + 1)), SIGKILL);
  EXPECT_NE(wait_for(process), 0);
  // Continues from there, to a step that the killed run has not reached.
  const std::string metrics = read_bytes(folder("run") + "/metrics.jsonl");
  const std::size_t last = metrics.rfind('\n', metrics.rfind('\n') - 1) + 1;
  const json line = json::parse(metrics.substr(last, metrics.rfind('\n') - last));
  const std::int64_t steps = line["step"].get<std::int64_t>() + 20;
  const CliResult resumed =
      run_cli({"train", "--resume", folder("run"), "--steps", std::to_string(steps)});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  run_cli({"train", "add", "--steps", std::to_string(steps), "--out", folder("whole"), "--set",
           "training.stop_when_solved=false", "--set", "training.blocks=8", "--set",
           "training.checkpoint_every=10"});
  EXPECT_EQ(read_bytes(folder("run") + "/model.safetensors"),
            read_bytes(folder("whole") + "/model.safetensors"));
}

TEST_F(RanksTest, ShareTheRunsOfASweep) {
  const CliResult result =
      run(3, {"sweep", "add", "--seeds", "5", "--out", folder("sweep"), "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json()["converged"], 5);
  EXPECT_EQ(result.json()["stopped"], false);
  // Again, and with more seeds.
  const CliResult more =
      run(2, {"sweep", "add", "--seeds", "6", "--out", folder("sweep"), "--json"});
  EXPECT_EQ(more.json()["converged"], 6) << more.err;
  const CliResult alone =
      run_cli({"sweep", "add", "--seeds", "6", "--out", folder("alone"), "--json"});
  EXPECT_EQ(alone.json()["steps_to_converge"], more.json()["steps_to_converge"]);
}

TEST_F(RanksTest, RunAGridInStrips) {
  ASSERT_EQ(run_cli({"train", "checkerboard", "--steps", "40", "--out", folder("train")}).code, 0);
  const auto picture_of = [&](int ranks) {
    const std::string png = folder(std::to_string(ranks) + ".png");
    const std::vector<std::string> words = {
        "run",      folder("train"), "--size", "37x50",  "--steps",
        "30",       "--async",       "0.8",    "--seed", "5",
        "--damage", "9x9@step20",    "--png",  png,      "--json"};
    const CliResult result = ranks == 0 ? run_cli(words) : run(ranks, words);
    EXPECT_EQ(result.code, 0) << result.err;
    json answer = result.json();
    for (const char* other : {"png", "cell_updates_per_second"}) answer.erase(other);
    return std::pair(read_bytes(png), answer);
  };
  const auto expected = picture_of(0);
  EXPECT_EQ(picture_of(2), expected);
  EXPECT_EQ(picture_of(3), expected);
  const CliResult refused = run(2, {"run", folder("train"), "--gif", folder("a.gif")});
  EXPECT_EQ(refused.complaint(),
            "[run] --gif, --mp4 and --show need a single process, received 2 ranks");
}

TEST_F(RanksTest, AreShownByDevices) {
  const CliResult result = run(2, {"devices", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  ASSERT_EQ(result.json()["ranks"].size(), 2U);
  EXPECT_TRUE(result.json()["ranks"][1].get<std::string>().starts_with("rank 1, "));
  EXPECT_TRUE(result.json()["mpi"].get<std::string>().ends_with(", 2 ranks"));
}

TEST_F(RanksTest, ErrorsArePrintedOnce) {
  const auto complaint = [&](int ranks, const std::vector<std::string>& words, int code) {
    const CliResult result = run(ranks, words);
    EXPECT_EQ(result.code, code) << result.err;
    // After the note about blocks.
    const std::size_t begin = result.err.rfind("boolgrad: ");
    EXPECT_EQ(result.err.find("boolgrad: "), begin) << result.err;
    return begin == std::string::npos ? result.err : result.err.substr(begin + 10);
  };
  const std::string out = folder("run");
  EXPECT_EQ(complaint(3, {"train", "add", "--out", out}, 1),
            "[train] expected training.blocks to be a multiple of the 3 ranks, received 8\n");
  EXPECT_EQ(complaint(2, {"train", "letter-g", "--out", out}, 1),
            "[train] expected a batch of 2 equal blocks or more for 2 ranks, received one of 1 in "
            "1\n");
  EXPECT_EQ(complaint(2, {"inspect", "model.safetensors"}, 2),
            "[inspect] expected one process, received 2 ranks of mpirun: train, sweep, run and "
            "devices use them\n");
  EXPECT_EQ(complaint(2, {"train", "ad", "--out", out}, 2).substr(0, 44),
            "[train] expected a TOML file or a built-in e");
}

TEST_F(RanksTest, HaveToAgree) {
  std::vector<std::string> words = arguments(1, {"train", "add", "--out", folder("run")});
  std::vector<std::string> others = {":",   "-n",     "1", BOOLGRAD_CLI, "train",
                                     "add", "--seed", "2", "--out",      folder("run")};
  words.insert(words.end(), others.begin(), others.end());
  const CliResult result = run_cli(words, "", mpirun_);
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(
      result.err.ends_with("boolgrad: [mpi] expected the same experiment on all ranks, "
                           "received one on rank 0 and one on rank 1\n"))
      << result.err;
  EXPECT_FALSE(fs::exists(folder("run") + "/checkpoint.safetensors"));
}

}  // namespace
}  // namespace boolgrad
