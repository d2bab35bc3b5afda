#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "boolgrad/model/model.h"
#include "boolgrad/train/learners/initial_model.h"
#include "tests/cli/run_cli.h"
#include "tests/support/life_rule.h"

namespace boolgrad {
namespace {

using nlohmann::json;
using testing_support::CliResult;
using testing_support::run_cli;
using testing_support::ScratchFolder;

class EvalTest : public testing::Test {
 protected:
  /// Saves the initial model of an experiment.
  train::Experiment save(const std::string& toml) {
    train::Experiment experiment = train::parse_experiment(toml, "test", "test", "");
    save_model(path_, train::to_toml(experiment), train::make_rule(experiment).to_file());
    return experiment;
  }

  CliResult eval(std::vector<std::string> words = {"--json"}) const {
    words.insert(words.begin(), {"eval", path_});
    return run_cli(words);
  }

  ScratchFolder scratch_;
  std::string path_ = (scratch_ / "model.safetensors").string();
};

const char* const board =
    "[task]\nkind = 'checkerboard'\n[automaton]\nheight = 6\nwidth = 6\nsteps = 3\nchannels = 2\n"
    "kernels = 2\nupdate = [8]\n";

TEST_F(EvalTest, RunsEveryScenario) {
  save(board);
  const CliResult result = eval();
  EXPECT_EQ(result.code, 0) << result.err;
  const json answer = result.json();
  EXPECT_EQ(answer["experiment"], "test");
  EXPECT_TRUE(answer["soft_loss"].is_number());
  ASSERT_EQ(answer["scenarios"].size(), 7U);
  const json& first = answer["scenarios"][0];
  EXPECT_EQ(first["name"], "fresh starts");
  EXPECT_EQ(first["height"], 6);
  EXPECT_EQ(first["steps"], 3);
  EXPECT_EQ(first["grids"], 32);
  EXPECT_EQ(answer["hard_loss"], first["wrong_bits"]);
  EXPECT_EQ(answer["hard_accuracy"], first["accuracy"]);
  EXPECT_EQ(answer["scenarios"][2]["width"], 24);
  const double share = 1 - first["wrong_bits"].get<double>() / (32 * 36);
  EXPECT_NEAR(first["bit_accuracy"], share, 1e-12);
  for (const json& scenario : answer["scenarios"]) {
    EXPECT_NE(result.out.find("\n  " + scenario["name"].get<std::string>() + "  "),
              std::string::npos)
        << result.out;
  }
  EXPECT_EQ(eval({"--json", "--starts", "3"}).json()["scenarios"][1]["grids"], 3);
  EXPECT_EQ(eval({"--quiet"}).out, "");
}

TEST_F(EvalTest, RunsOnceIfNothingIsRandom) {
  save(std::string(board) + "start = 'seed'");
  const json scenarios = eval().json()["scenarios"];
  EXPECT_EQ(scenarios[0]["grids"], 1);
  EXPECT_EQ(scenarios[3]["name"], "fire rate 0.6");
  EXPECT_EQ(scenarios[3]["grids"], 32);
}

TEST_F(EvalTest, ComparesLifeWithConwaysRule) {
  save("[task]\nkind = 'life'\n[automaton]\nchannels = 1\nsteps = 1\nkernels = 2\nupdate = [8]");
  const json answer = eval().json();
  ASSERT_EQ(answer["scenarios"].size(), 2U);
  EXPECT_EQ(answer["scenarios"][0]["grids"], 512);
  EXPECT_EQ(answer["hard_loss"], answer["scenarios"][0]["wrong_bits"]);
  EXPECT_EQ(answer["scenarios"][1]["steps"], 300);
  EXPECT_EQ(answer["scenarios"][1]["height"], 128);
  EXPECT_GT(answer["scenarios"][1]["wrong_bits"], 0);
  EXPECT_EQ(answer["scenarios"][1]["accuracy"], 0.0);
}

TEST_F(EvalTest, ReportsErrors) {
  const train::Experiment experiment = save(board);
  EXPECT_EQ(eval({"--starts", "0"}).code, 2);
  EXPECT_EQ(eval({"--starts", "0"}).complaint(),
            "[eval] expected --starts from 1 to 4096, received 0");
  save_model(path_, train::to_toml(experiment), life_rule().to_file());
  EXPECT_EQ(eval().err, "boolgrad: [eval] " + path_ +
                            ": expected 2 channels, as in its experiment, received 1\n");
  save_safetensors(path_, life_rule().to_file());
  EXPECT_EQ(eval({}).complaint(),
            "[eval] " + path_ + ": the model has no experiment to be evaluated on");
  const train::Experiment copy = train::parse_experiment("[task]\nbits = 2", "copy", "copy", "");
  save_model(path_, train::to_toml(experiment), train::make_network(copy, 2, 2).to_file());
  EXPECT_EQ(eval({}).complaint(),
            "[eval] " + path_ + ": expected the experiment of a circuit, received checkerboard");
}

}  // namespace
}  // namespace boolgrad
