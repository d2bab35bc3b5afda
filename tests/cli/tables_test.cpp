// Tables of one's own on the command line: what is measured, kinds of CSV files, and faults.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/run_cli.h"

namespace boolgrad {
namespace {

namespace fs = std::filesystem;

using testing_support::CliResult;
using testing_support::run_cli;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

class TableCli : public testing::Test {
 protected:
  CliResult train(const std::string& text, std::vector<std::string> more = {}) const {
    write_bytes(scratch_ / "flats.csv", text);
    more.insert(more.begin(), {"train", "table", "--data", (scratch_ / "flats.csv").string(),
                               "--out", run_, "--json", "--overwrite"});
    return run_cli(more);
  }

  /// Flats whose size decides on the kind and the price.
  static std::string flats(const std::string& target) {
    std::string text = "size,floor," + target + "\n";
    for (int i = 0; i < 150; ++i) {
      const int size = 20 + i * 37 % 101;
      text += fmt::format(
          "{},{},{}\n", size, i % 7,
          target == "kind" ? (size > 60 ? "large" : "small") : std::to_string(10 * size));
    }
    return text;
  }

  ScratchFolder scratch_;
  std::string run_ = (scratch_ / "run").string();
};

TEST_F(TableCli, SaysWhatWasMeasuredOnWhichSamples) {
  const CliResult result = train(flats("kind"));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("samples 97 for training, 24 for validation, 29 for the test, loaded "),
            std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find(", evaluated on 24 validation samples\n"), std::string::npos);
  EXPECT_NE(result.out.find(" % of 29 test samples\n"), std::string::npos) << result.out;
  EXPECT_EQ(result.json()["metric"], "accuracy");
  EXPECT_EQ(result.json()["measured_on"], "validation");
  EXPECT_GT(result.json()["test_accuracy"], 0.85);
  const CliResult evaluated = run_cli({"eval", run_, "--json"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_EQ(evaluated.json()["hard_accuracy"], result.json()["test_accuracy"]);
  EXPECT_EQ(evaluated.json()["samples"], 29);
}

TEST_F(TableCli, PredictsNumbersIfTheTargetHasMany) {
  const CliResult result = train(flats("price"));
  ASSERT_EQ(result.code, 0);
  // Progress may follow.
  EXPECT_TRUE(result.err.starts_with(
      "note: column 'price' has 101 different numbers: predicting a number (regression); "
      "--set head.kind=classes predicts classes\n"))
      << result.err;
  EXPECT_EQ(result.json()["metric"], "explained variance");
  EXPECT_NE(result.out.find("  test explained variance  "), std::string::npos) << result.out;
  const CliResult evaluated = run_cli({"eval", run_, "--json"});
  EXPECT_EQ(evaluated.json()["metric"], "explained variance");
  EXPECT_EQ(evaluated.json()["hard_accuracy"], result.json()["test_accuracy"]);
}

TEST_F(TableCli, TreatsMissingValuesAlikeEverywhere) {
  std::string text = flats("kind");
  text.replace(text.find("57,1,"), 5, "57,,");
  const CliResult refused = train(text);
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find("expected a value in column 'floor', received none; --missing drop"),
            std::string::npos)
      << refused.err;
  ASSERT_EQ(train(text, {"--missing", "mean"}).code, 0);
  write_bytes(scratch_ / "new.csv", "floor,size\n,90\n");
  const CliResult predicted =
      run_cli({"predict", run_, "--data", (scratch_ / "new.csv").string(), "--json"});
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_EQ(predicted.json()["predictions"][0], "large");
  const CliResult dropped = train(text, {"--missing", "drop"});
  EXPECT_NE(dropped.out.find(", 1 lines with missing values left out"), std::string::npos)
      << dropped.out;
  EXPECT_EQ(train(text, {"--missing", "guess"}).code, 2);
}

TEST_F(TableCli, ReadsOtherKindsOfFiles) {
  std::string text = flats("kind");
  text = text.substr(text.find('\n') + 1);
  for (char& letter : text) {
    if (letter == ',') letter = ';';
  }
  ASSERT_EQ(train(text, {"--no-header"}).code, 0);
  write_bytes(scratch_ / "new.csv", "90\t1\n25\t2\n");
  const CliResult predicted =
      run_cli({"predict", run_, "--data", (scratch_ / "new.csv").string(), "--json"});
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_EQ(predicted.json()["predictions"], (nlohmann::json{"large", "small"}));
  const CliResult circuit = run_cli({"train", "and", "--no-header"});
  EXPECT_EQ(circuit.code, 2);
  EXPECT_EQ(circuit.complaint(),
            "[train] --no-header, --missing and --encoding are for CSV files, not for and");
}

TEST_F(TableCli, SweepsReportTheAccuracyOfValidation) {
  write_bytes(scratch_ / "flats.csv", flats("kind"));
  const CliResult result = run_cli({"sweep", "table", "--data", (scratch_ / "flats.csv").string(),
                                    "--seeds", "2", "--steps", "100", "--out", run_, "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("  seed  validation accuracy  updates  soft loss  seconds\n"),
            std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("flats: validation accuracy mean "), std::string::npos) << result.out;
  EXPECT_EQ(result.json()["metric"], "validation accuracy");
  EXPECT_EQ(result.json()["accuracies"].size(), 2U);
  EXPECT_GT(result.json()["accuracies"][0], 0.7);
}

// ---------------------------------------------------------------------------------------------
// Faults

TEST(TrainFaults, LongRunsAreRefused) {
  EXPECT_EQ(run_cli({"train", "add", "--epochs", "5000000000"}).complaint(),
            "[train] expected at most 4294967295 epochs, of 1 steps each, received 5000000000");
  EXPECT_EQ(run_cli({"train", "add", "--epochs", "9223372036854775807"}).complaint(),
            "[train] expected at most 4294967295 epochs, of 1 steps each, received "
            "9223372036854775807");
}

TEST(TrainFaults, NamesDoNotLeaveTheFolderOfRuns) {
  const ScratchFolder scratch;
  write_bytes(scratch / "mine.toml",
              "name = \"../../x\\u001b[31m\"\n[task]\nkind = 'add'\nbits = 2\n[network]\nhidden = "
              "[8]\n[training]\nsteps = 1\n");
  const std::string command = fmt::format("cd {} && {} train mine.toml > out 2> err",
                                          scratch.path().string(), BOOLGRAD_CLI);
  ASSERT_EQ(std::system(command.c_str()), 0) << testing_support::read_bytes(scratch / "err");
  EXPECT_TRUE(fs::exists(scratch / "runs/-.-..-x-[31m-1/model.safetensors"));
  EXPECT_EQ(testing_support::read_bytes(scratch / "out").find('\x1b'), std::string::npos);
}

TEST(TrainFaults, FilesThatAreNotUtf8AreNamedReadably) {
  const CliResult result = run_cli({"inspect", "na\xEFve.safetensors"});
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.complaint().find("na\\xEFve.safetensors"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace boolgrad
