#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/cli/run_cli.h"

namespace boolgrad {
namespace {

namespace fs = std::filesystem;

using nlohmann::json;
using testing_support::CliResult;
using testing_support::read_bytes;
using testing_support::run_cli;
using testing_support::ScratchFolder;
using testing_support::wait_for;
using testing_support::write_bytes;

/// A sweep's runs are long enough to be interrupted.
constexpr const char* small_experiment = R"(
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
checkpoint_every = 40
stop_when_solved = false
)";

/// The lines of a sweep's table without their times.
std::vector<std::string> lines_of_table(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    std::istringstream text(line);
    for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
    cells.erase(cells.begin() + 8);
    lines.push_back(fmt::format("{}", fmt::join(cells, ",")));
  }
  return lines;
}

class SweepTest : public testing::Test {
 protected:
  /// Starts the program without waiting for its end.
  static pid_t start(std::vector<std::string> words) {
    words.insert(words.begin(), BOOLGRAD_CLI);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t process = 0;
    EXPECT_EQ(posix_spawn(&process, argv[0], nullptr, nullptr, argv.data(), environ), 0);
    return process;
  }

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
  write_bytes(small, small_experiment);
  std::vector<std::string> command = {"sweep", small,     "--seeds", "6", "--jobs",
                                      "2",     "--quiet", "--out",   out_};
  const pid_t process = start(command);
  // Metrics are written after the signal handlers are installed.
  while (!fs::exists(out_ + "/seed-1/metrics.jsonl")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(process, SIGINT);
  EXPECT_EQ(wait_for(process), 0);
  EXPECT_TRUE(fs::exists(out_ + "/sweep.csv"));
  command.emplace_back("--json");
  const json answer = run_cli(command).json();
  EXPECT_EQ(answer["stopped"], false);
  EXPECT_EQ(answer["runs"], 6);
  EXPECT_EQ(answer["converged"], 6);
}

TEST_F(SweepTest, WorkersTakeTheRunsOfAList) {
  const CliResult list = sweep({"add", "--seeds", "5", "--manifest", "--json"});
  EXPECT_EQ(list.code, 0) << list.err;
  EXPECT_NE(list.out.find("a list of 5 runs"), std::string::npos) << list.out;
  EXPECT_EQ(list.json(), json({{"folder", out_}, {"runs", 5}}));
  EXPECT_FALSE(fs::exists(out_ + "/seed-1"));
  const CliResult before = run_cli({"sweep", out_, "--collect"});
  EXPECT_NE(before.out.find("not all runs are done: boolgrad sweep " + out_ + " works on them"),
            std::string::npos)
      << before.out;

  const pid_t other = start({"sweep", out_, "--task", "3", "--quiet"});
  const CliResult worker = run_cli({"sweep", out_, "--task", "0", "--json"});
  EXPECT_EQ(worker.code, 0) << worker.err;
  EXPECT_EQ(wait_for(other), 0);
  EXPECT_EQ(worker.json()["runs"], 5);
  const CliResult last = run_cli({"sweep", out_, "--json"});
  EXPECT_EQ(last.json()["trained"], json::array());
  EXPECT_EQ(last.json()["done"], 5);
  EXPECT_NE(last.out.find(out_ + ": 0 runs trained here, 5 of 5 are done\n"), std::string::npos)
      << last.out;

  const json collected = run_cli({"sweep", out_, "--collect", "--json"}).json();
  EXPECT_EQ(collected["converged"], 5);
  EXPECT_EQ(collected["stopped"], false);
  const std::string alone = (scratch_ / "alone").string();
  run_cli({"sweep", "add", "--seeds", "5", "--out", alone});
  EXPECT_EQ(lines_of_table(out_ + "/sweep.csv"), lines_of_table(alone + "/sweep.csv"));
}

TEST_F(SweepTest, WorkersKilledAnywhereLoseNothing) {
  const std::string small = (scratch_ / "small.toml").string();
  write_bytes(small, small_experiment);
  ASSERT_EQ(sweep({small, "--seeds", "6", "--manifest"}).code, 0);
  const auto done = [&] { return run_cli({"sweep", out_, "--collect", "--json"}).json(); };
  // Three workers at a time. Every one is killed, a little later each time, until one has ended.
  for (int round = 1; done()["stopped"] == true; ++round) {
    ASSERT_LT(round, 100);
    std::vector<pid_t> workers;
    for (int i = 0; i < 3; ++i) {
      workers.push_back(start({"sweep", out_, "--task", std::to_string(i), "--quiet"}));
    }
    for (const pid_t worker : workers) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20 * round));
      kill(worker, SIGKILL);
      wait_for(worker);
    }
  }
  const std::string alone = (scratch_ / "alone").string();
  ASSERT_EQ(run_cli({"sweep", small, "--seeds", "6", "--out", alone}).code, 0);
  EXPECT_EQ(lines_of_table(out_ + "/sweep.csv"), lines_of_table(alone + "/sweep.csv"));
  for (int seed = 1; seed <= 6; ++seed) {
    const std::string model = "/seed-" + std::to_string(seed) + "/model.safetensors";
    EXPECT_EQ(read_bytes(out_ + model), read_bytes(alone + model)) << seed;
  }
}

TEST_F(SweepTest, AFailedRunOfAListIsReported) {
  ASSERT_EQ(sweep({"add", "--seeds", "2", "--manifest"}).code, 0);
  write_bytes(out_ + "/seed-2", "in the way");
  const CliResult worker = run_cli({"sweep", out_, "--json"});
  EXPECT_EQ(worker.code, 1);
  EXPECT_EQ(worker.complaint(),
            "[sweep] 1 of 2 runs failed, the first is seed-2: [sweep] cannot create the folder " +
                out_ + "/seed-2: Not a directory");
  // Tried again, it succeeds.
  fs::remove(out_ + "/seed-2");
  EXPECT_EQ(run_cli({"sweep", out_}).code, 0);
  EXPECT_EQ(run_cli({"sweep", out_, "--collect", "--json"}).json()["converged"], 2);
}

TEST_F(SweepTest, ReportsErrorsOfLists) {
  const auto complaint = [](const std::vector<std::string>& words, int code) {
    const CliResult result = run_cli(words);
    EXPECT_EQ(result.code, code) << result.err;
    return result.complaint();
  };
  ASSERT_EQ(sweep({"add", "--seeds", "2", "--manifest"}).code, 0);
  EXPECT_EQ(complaint({"sweep", "add", "--seeds", "2", "--out", out_}, 1),
            "[sweep] " + out_ + ": the folder has a list of runs for several processes: boolgrad " +
                "sweep " + out_);
  EXPECT_EQ(complaint({"sweep", out_, "--seeds", "3"}, 2),
            "[sweep] " + out_ +
                " has a list of runs: expected --task, --collect, --jobs, --stale-after or "
                "--device, received an option that changes the runs");
  EXPECT_EQ(complaint({"sweep", "add", "--task", "3"}, 2),
            "[sweep] --task needs the folder of a list of runs, received add: boolgrad sweep "
            "EXPERIMENT --seeds N --manifest writes one");
  EXPECT_EQ(complaint({"sweep", out_, "--task", "3", "--collect"}, 2),
            "[sweep] expected --task or --collect, received both");
  EXPECT_EQ(complaint({"sweep", out_, "--task", "-1"}, 2),
            "[sweep] expected --task of at least 0, received -1");
  EXPECT_EQ(complaint({"sweep", out_, "--stale-after", "0"}, 2),
            "[sweep] expected --stale-after of at least 1 second, received 0");
  setenv("SLURM_ARRAY_TASK_ID", "first", 1);
  EXPECT_EQ(complaint({"sweep", out_}, 1),
            "[sweep] expected a number in SLURM_ARRAY_TASK_ID, received 'first'");
  setenv("SLURM_ARRAY_TASK_ID", "7", 1);
  EXPECT_EQ(run_cli({"sweep", out_}).code, 0);
  unsetenv("SLURM_ARRAY_TASK_ID");
  write_bytes(out_ + "/manifest.json", "{}");
  EXPECT_EQ(complaint({"sweep", out_, "--collect"}, 1),
            "[sweep] " + out_ +
                ": expected the folder of `boolgrad sweep --manifest`, received other files");
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
