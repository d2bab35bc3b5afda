// Rules of cellular automata by name, by table and by examples, from the command line.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "boolgrad/data/cell_rule.h"
#include "boolgrad/model/model.h"
#include "boolgrad/train/experiment/changes.h"
#include "boolgrad/train/run/run_folder.h"
#include "tests/cli/run_cli.h"
#include "tests/support/life_rule.h"
#include "tests/support/npy_file.h"

namespace boolgrad {
namespace {

using nlohmann::json;
using testing_support::CliResult;
using testing_support::run_cli;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

class RuleTest : public testing::Test {
 protected:
  /// Trains for a few steps only.
  CliResult train(std::vector<std::string> words) {
    words.insert(words.begin(), {"train", "rule", "--set", "automaton.kernels=2", "--set",
                                 "automaton.update=[8]", "--steps", "3", "--out", out_, "--json"});
    return run_cli(words);
  }
  json eval() { return run_cli({"eval", out_, "--json", "--quiet"}).json(); }

  std::string complaint(std::vector<std::string> words, int code) {
    words.insert(words.begin(), {"train", "rule", "--out", out_});
    const CliResult result = run_cli(words);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_FALSE(std::filesystem::exists(out_)) << "nothing was started";
    return result.complaint();
  }

  ScratchFolder scratch_;
  std::string out_ = (scratch_ / "run").string();
};

TEST_F(RuleTest, IsTrainedAndEvaluatedByName) {
  const CliResult result = train({"--rule", "B36/S23"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json()["experiment"], "b36-s23");
  EXPECT_NE(result.out.find("% of 64 tori, "), std::string::npos) << result.out;
  const json answer = eval();
  ASSERT_EQ(answer["scenarios"].size(), 2U);
  EXPECT_EQ(answer["scenarios"][0]["name"], "all neighbourhoods");
  EXPECT_EQ(answer["hard_loss"], result.json()["hard_loss"]);
  EXPECT_EQ(answer["scenarios"][1]["name"], "every step as B36/S23");
  EXPECT_EQ(answer["scenarios"][1]["steps"], 300);
  EXPECT_EQ(answer["scenarios"][1]["height"], 128);
  EXPECT_GT(answer["scenarios"][1]["wrong_bits"], 0);
}

TEST_F(RuleTest, DecidesItsChannelsAndGrid) {
  const CliResult result =
      train({"--rule", "B3/S23", "--set", "automaton.channels=4", "--set", "automaton.height=9"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err,
            "note: automaton.channels has no effect without a task other than rule\n"
            "note: automaton.height has no effect without a task other than life and rule, and "
            "task.max_side = 0\n");
}

TEST_F(RuleTest, SeveralStatesHaveAChannelEach) {
  const CliResult result = train({"--rule", "B2/S/3"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json()["experiment"], "b2-s-3");
  EXPECT_NE(result.out.find("% of 2211 tori, "), std::string::npos) << result.out;
  EXPECT_EQ(eval()["scenarios"][0]["grids"], 2211);
  const LoadedModel loaded = load_model(out_ + "/model.safetensors");
  EXPECT_EQ(loaded.model.rule().channels(), 2);
  const json run = run_cli({"run", out_, "--steps", "2", "--json", "--quiet"}).json();
  EXPECT_EQ(run["height"], 64);
}

/// The tori of a step depend on the step only.
TEST_F(RuleTest, StoppedAndResumedGivesTheSameModel) {
  const auto model_after = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all = {"train",  "rule",
                                    "--rule", "B2/S/3",
                                    "--set",  "automaton.kernels=2",
                                    "--set",  "automaton.update=[8]",
                                    "--out",  out_,
                                    "--quiet"};
    all.insert(all.end(), words.begin(), words.end());
    EXPECT_EQ(run_cli(all).code, 0);
    return testing_support::read_bytes(out_ + "/model.safetensors");
  };
  const std::string straight = model_after({"--steps", "7"});
  EXPECT_NE(model_after({"--steps", "3", "--overwrite"}), straight);
  EXPECT_EQ(model_after({"--steps", "7", "--resume"}), straight);
}

TEST_F(RuleTest, RunsAreNamedAfterTheRule) {
  const auto folder = [](const train::ExperimentChanges& changes) {
    const std::filesystem::path file =
        std::filesystem::path(BOOLGRAD_SOURCE_DIR) / "experiments/rule.toml";
    return train::default_run_folder(train::changed_experiment(file, changes)).string();
  };
  EXPECT_EQ(folder({.rule = "B36/S23"}), "runs/b36-s23-1");
  EXPECT_EQ(folder({.seed = 7, .rule = "B2/S/3"}), "runs/b2-s-3-7");
  EXPECT_EQ(folder({.rule = std::string(128, 'A')}), "runs/table-aaaaaaaa-1");
  const std::string seen = (scratch_ / "Before After.npy").string();
  write_bytes(seen, testing_support::npy("|u1", "(2, 3, 3)", std::string(18, '\0')));
  EXPECT_EQ(folder({.examples = seen}), "runs/Before After-1");
}

/// A model that plays Life is right on examples of Life.
TEST_F(RuleTest, IsLearnedFromAnAnimation) {
  const std::string life = (scratch_ / "life.safetensors").string();
  save_model(
      life,
      train::to_toml(train::parse_experiment(
          "[task]\nkind = 'life'\n[automaton]\nchannels = 1\nsteps = 1", "life", "life", "")),
      life_rule().to_file());
  const std::string gif = (scratch_ / "seen.gif").string();
  ASSERT_EQ(run_cli({"run", life, "--size", "24x32", "--steps", "20", "--gif", gif}).code, 0);
  const std::int64_t known = data::read_examples(gif).known();
  ASSERT_GT(known, 200);
  ASSERT_LT(known, 512);
  const CliResult result = train({"--examples", gif});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json()["experiment"], "seen");
  EXPECT_EQ(result.err, "note: seen.gif: 2 states, " + std::to_string(known) +
                            " of 512 neighbourhoods seen; the others may become anything\n");
  const LoadedModel trained = load_model(out_ + "/model.safetensors");
  ASSERT_TRUE(trained.spec.has_value());
  save_model(life,
             train::to_toml(train::parse_experiment("[task]\nkind = 'rule'\nexamples = 'seen.gif'\n"
                                                    "[automaton]\nchannels = 1\nsteps = 1",
                                                    "seen", "seen", scratch_.path())),
             life_rule().to_file());
  const json answer = run_cli({"eval", life, "--json", "--quiet"}).json();
  EXPECT_EQ(answer["scenarios"][0]["name"], std::to_string(known) + " of 512 known");
  EXPECT_EQ(answer["scenarios"][0]["wrong_bits"], 0);
  EXPECT_EQ(answer["scenarios"][1]["wrong_bits"], 0);
  EXPECT_EQ(answer["hard_loss"], 0);
  EXPECT_EQ(answer["soft_accuracy"], 1.0);
  EXPECT_GT(eval()["scenarios"][0]["wrong_bits"], 0) << "three steps are too few";
}

/// Full trainings, which take a few seconds.
TEST_F(RuleTest, IsLearnedFromItsDefinition) {
  for (const char* rule : {"B36/S23", "B2/S/3"}) {
    const CliResult result = run_cli(
        {"train", "rule", "--rule", rule, "--out", out_, "--overwrite", "--quiet", "--json"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.json()["hard_loss"], 0.0) << rule;
    const json scenarios = eval()["scenarios"];
    for (const json& scenario : scenarios) {
      EXPECT_EQ(scenario["wrong_bits"], 0) << rule << " " << scenario;
    }
  }
}

TEST_F(RuleTest, IsLearnedFromExamples) {
  const data::CellRule seeds = data::parse_cell_rule("B2/S");
  Tensor grid = Tensor::zeros({1, 20, 20}, DType::uint8);
  std::string bytes;
  for (std::size_t i = 0; i < 400; i += 1 + i % 7) grid.mutable_values<std::uint8_t>()[i] = 1;
  for (int step = 0; step < 12; ++step) {
    for (const std::uint8_t cell : grid.values<std::uint8_t>()) bytes += static_cast<char>(cell);
    grid = seeds.step(grid);
  }
  const std::string path = (scratch_ / "seeds.npy").string();
  write_bytes(path, testing_support::npy("|u1", "(12, 20, 20)", bytes));
  const std::int64_t known = data::read_examples(path).known();
  EXPECT_LT(known, 500) << "some are not seen";
  const CliResult result =
      run_cli({"train", "rule", "--examples", path, "--out", out_, "--quiet", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json()["hard_loss"], 0.0);
  const json scenarios = eval()["scenarios"];
  EXPECT_EQ(scenarios[0]["name"], std::to_string(known) + " of 512 known");
  EXPECT_EQ(scenarios[0]["wrong_bits"], 0);
  EXPECT_EQ(scenarios[1]["wrong_bits"], 0) << "in the cells that are known";
}

TEST_F(RuleTest, ReportsErrors) {
  EXPECT_EQ(complaint({}, 1),
            "[rule] expected a rule, such as --rule B36/S23, or --examples FILE, received neither");
  EXPECT_EQ(complaint({"--rule", "23/3"}, 1),
            "[rule] expected births and survivals by the number of the 8 neighbours, such as "
            "B36/S23, or B2/S/3 with three states, received '23/3'");
  EXPECT_EQ(complaint({"--rule", "B2/S/9"}, 1),
            "[rule] expected 2 to 4 states, received 9 in 'B2/S/9'");
  EXPECT_EQ(complaint({"--examples", "none.npy"}, 1),
            "[npy] cannot read " + std::filesystem::absolute("none.npy").string() +
                ": No such file or directory");
  EXPECT_EQ(complaint({"--rule", "B3/S23", "--examples", "a.npy"}, 2),
            "[train] expected --rule or --examples, received both");
  EXPECT_EQ(complaint({"--rule", "B3/S23", "--set", "automaton.steps=3"}, 1),
            "[experiment] " BOOLGRAD_SOURCE_DIR
            "/experiments/rule.toml: expected automaton.steps = 1 for a rule, without stay_steps "
            "and extra_steps, received 3 steps");
  const CliResult other = run_cli({"train", "life", "--rule", "B3/S23", "--out", out_});
  EXPECT_EQ(other.code, 2);
  EXPECT_EQ(other.complaint(),
            "[train] --rule and --examples are for the experiment rule, not for life");
}

}  // namespace
}  // namespace boolgrad
