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
using testing_support::read_bytes;
using testing_support::run_cli;
using testing_support::ScratchFolder;
using testing_support::wait_for;
using testing_support::write_bytes;

class TrainTest : public testing::Test {
 protected:
  /// Trains in the scratch folder.
  CliResult train(std::vector<std::string> words) {
    words.insert(words.begin(), "train");
    words.insert(words.end(), {"--out", out_});
    return run_cli(words);
  }

  ScratchFolder scratch_;
  std::string out_ = (scratch_ / "run").string();
  std::string model_ = (scratch_ / "run/model.safetensors").string();
};

TEST_F(TrainTest, ABuiltInExperimentIsSolved) {
  const CliResult result = train({"add", "--seed", "2", "--json"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(result.out.starts_with("add (seed 2): solved after ")) << result.out;
  const json answer = result.json();
  EXPECT_EQ(answer["experiment"], "add");
  EXPECT_EQ(answer["seed"], 2);
  EXPECT_EQ(answer["hard_accuracy"], 1.0);
  EXPECT_EQ(answer["hard_loss"], 0.0);
  EXPECT_EQ(answer["model"], model_);
  EXPECT_GT(answer["steps"], 0);
  EXPECT_GT(answer["seconds"], 0.0);
  EXPECT_TRUE(answer["soft_loss"].is_number());
  EXPECT_EQ(answer["stopped"], false);
  EXPECT_EQ(answer["plots"]["losses"], out_ + "/losses.png");
  EXPECT_EQ(answer["plots"]["gates"], out_ + "/gates.png");
  EXPECT_TRUE(fs::exists(out_ + "/losses.png"));
  EXPECT_TRUE(fs::exists(out_ + "/gates.png"));
  EXPECT_NE(result.out.find("100.0% of cases"), std::string::npos) << result.out;

  const json evaluation = run_cli({"eval", model_, "--json", "--quiet"}).json();
  EXPECT_EQ(evaluation["hard_accuracy"], 1.0);
  EXPECT_EQ(evaluation["soft_loss"], answer["soft_loss"]);
  EXPECT_EQ(evaluation["cases"], 256);

  const CliResult inspection = run_cli({"inspect", model_, "--json"});
  EXPECT_EQ(inspection.code, 0);
  EXPECT_EQ(inspection.json()["gates"], 933);
  EXPECT_LE(inspection.json()["active_gates"], 933);
  EXPECT_LE(inspection.json()["depth"], 5);
  EXPECT_EQ(inspection.json()["layers"].size(), 5U);
  EXPECT_FALSE(inspection.json().contains("passes"));

  const CliResult passes = run_cli({"inspect", model_, "--passes", "--json"});
  EXPECT_NE(passes.out.find("dangling gates"), std::string::npos) << passes.out;
  const json list = passes.json()["passes"];
  EXPECT_EQ(list[0]["gates_before"], 933);
  for (std::size_t i = 0; i + 1 < list.size(); ++i) {
    EXPECT_EQ(list[i]["gates"], list[i + 1]["gates_before"]);
  }
  EXPECT_EQ(list.back()["pass"], "cut rewriting");
  EXPECT_LE(list.back()["gates"], list.back()["gates_before"]);

  const CliResult lut6 = run_cli({"inspect", model_, "--lut6", "--json"});
  EXPECT_FALSE(lut6.json().contains("passes"));
  EXPECT_GT(lut6.json()["lut6"]["tables"], 0);
  EXPECT_LE(lut6.json()["lut6"]["tables"], list.back()["gates"]);
  EXPECT_FALSE(lut6.json()["lut6"].contains("encoder")) << "it has no thresholds";
  EXPECT_NE(lut6.out.find(" LUT6, depth "), std::string::npos) << lut6.out;
}

TEST_F(TrainTest, RecoversFromAKnockout) {
  const json answer =
      train({"add", "--knockout", "0.1", "--steps", "300", "--json", "--quiet"}).json();
  EXPECT_EQ(answer["hard_accuracy"], 1.0);
  EXPECT_GT(answer["steps"], 150);
  const std::string metrics = read_bytes(out_ + "/metrics.jsonl");
  EXPECT_NE(metrics.find("\"knocked_out\":93"), std::string::npos);
  EXPECT_EQ(run_cli({"inspect", model_, "--json"}).json()["kinds"]["off"], 93);
}

TEST_F(TrainTest, QuietPrintsNothing) {
  const CliResult result = train({"copy", "--quiet", "--threads", "1"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "");
}

TEST_F(TrainTest, EpochsCountPassesOverAllCases) {
  const json answer = train({"parity", "--epochs", "2", "--set", "training.batch=100", "--set",
                             "training.stop_when_solved=false", "--json", "--quiet"})
                          .json();
  EXPECT_EQ(answer["steps"], 6);
}

TEST_F(TrainTest, ReadsAFileAndNamesItsRunAfterIt) {
  write_bytes(scratch_ / "mine.toml", "[task]\nbits = 3\n[network]\narity = 3\n");
  const json answer =
      train({(scratch_ / "mine.toml").string(), "--steps", "3", "--json", "--quiet"}).json();
  EXPECT_EQ(answer["experiment"], "mine");
  EXPECT_EQ(answer["steps"], 3);
}

TEST_F(TrainTest, CtrlCLeavesACheckpointToResumeFrom) {
  std::vector<std::string> words = {BOOLGRAD_CLI,
                                    "train",
                                    "copy",
                                    "--steps",
                                    "100000000",
                                    "--set",
                                    "training.stop_when_solved=false",
                                    "--out",
                                    out_,
                                    "--quiet"};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t process = 0;
  ASSERT_EQ(posix_spawn(&process, argv[0], nullptr, nullptr, argv.data(), environ), 0);
  // Metrics are written after the signal handlers are installed.
  while (!fs::exists(out_ + "/metrics.jsonl")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  kill(process, SIGINT);
  EXPECT_EQ(wait_for(process), 0);
  EXPECT_TRUE(fs::exists(out_ + "/checkpoint.safetensors"));
  EXPECT_FALSE(fs::exists(model_));
  EXPECT_TRUE(fs::exists(out_ + "/losses.png")) << "of what there is";

  const CliResult resumed = run_cli({"train", "--resume", out_, "--steps", "100000000", "--set",
                                     "training.stop_when_solved=true", "--json", "--quiet"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(resumed.json()["experiment"], "copy");
  EXPECT_EQ(resumed.json()["model"], model_);
}

TEST_F(TrainTest, ResumesTheFolderOfTheExperiment) {
  EXPECT_EQ(train({"gray", "--steps", "3", "--quiet"}).code, 0);
  const json answer = train({"gray", "--steps", "5", "--resume", "--json", "--quiet"}).json();
  EXPECT_EQ(answer["steps"], 5);
  const CliResult other = train({"copy", "--resume"});
  EXPECT_EQ(other.code, 1);
  EXPECT_EQ(other.complaint(), "[resume] " + out_ +
                                   "/checkpoint.safetensors: the run was started with name = "
                                   "'gray', received 'copy'");
}

TEST_F(TrainTest, ReportsErrors) {
  CliResult result = train({"multipy"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(
      result.complaint(),
      "[train] expected a TOML file or a built-in experiment, received 'multipy' (did you mean "
      "'multiply'?)");
  result = train({});
  EXPECT_EQ(result.code, 2);
  result = train({"add", "--steps", "3", "--epochs", "3"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.complaint(), "[train] expected --steps or --epochs, received both");
  result = train({"add", "--resume", "elsewhere"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.complaint(),
            "[train] expected the same folder for --resume and --out, received two");
  result = train({"add", "--set", "training.learnin_rate=1"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.complaint(),
            "[experiment] --set: unknown key 'training.learnin_rate', did you mean "
            "'training.learning_rate'?");
  result = train({"add", "--set", "training.learning_rate=nan"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.complaint(),
            "[experiment] --set: expected training.learning_rate to be a number above 0, received "
            "nan");
  result = train({"add", "--knockout", "1.5"});
  EXPECT_EQ(result.code, 1);
  result = train({"add", "--device", "cuda"});
  EXPECT_EQ(result.code, 1);
  result = train({"add", "--set", "task.bits=7"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.complaint(),
            "[task] expected an even number of bits for the two halves of add, received 7");
  EXPECT_FALSE(fs::exists(out_)) << "nothing was started";
}

TEST_F(TrainTest, ModelsAreChecked) {
  write_bytes(scratch_ / "no.safetensors", "not one");
  for (const char* command : {"eval", "inspect"}) {
    const CliResult result = run_cli({command, (scratch_ / "no.safetensors").string()});
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(result.complaint().starts_with("[safetensors] ")) << result.err;
    EXPECT_EQ(run_cli({command}).code, 2);
  }
}

TEST(TrainShipped, AnInstalledProgramFindsItsExperiments) {
  const ScratchFolder scratch;
  fs::create_directories(scratch / "bin");
  fs::create_directories(scratch / "share/boolgrad/experiments");
  fs::copy_file(BOOLGRAD_CLI, scratch / "bin/boolgrad");
  write_bytes(scratch / "share/boolgrad/experiments/own.toml", "[training]\nsteps = 2\n");
  const CliResult result = run_cli({"train", "own", "--out", (scratch / "run").string(), "--json"},
                                   "", (scratch / "bin/boolgrad").string());
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json()["experiment"], "own");
}

}  // namespace
}  // namespace boolgrad
