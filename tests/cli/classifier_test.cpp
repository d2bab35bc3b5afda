// Classifiers on the command line: train, evaluate, export.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cli/run_cli.h"
#include "tests/support/devices.h"

namespace boolgrad {
namespace {

using nlohmann::json;
using testing_support::CliResult;
using testing_support::read_bytes;
using testing_support::run_cli;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

class ClassifierCli : public testing::Test {
 protected:
  /// Flowers whose kind depends on two of their measurements.
  void write_flowers(int count = 150) {
    std::string text = "length,width,colour,kind\n";
    for (int i = 0; i < count; ++i) {
      const int length = i * 37 % 101;
      const int width = i * 53 % 97;
      text += fmt::format("{}.5,{},{},{}\n", length, width, i % 2 == 0 ? "red" : "blue",
                          length > 60  ? "lily"
                          : width > 40 ? "rose"
                                       : "tulip");
    }
    write_bytes(csv_, text);
  }

  CliResult train(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"train", "table", "--data", csv_, "--target", "kind", "--out",
                               (scratch_ / "run").string(), "--json"});
    return run_cli(more);
  }
  CliResult eval(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"eval", model_, "--json"});
    return run_cli(more);
  }

  ScratchFolder scratch_;
  std::string csv_ = (scratch_ / "flowers.csv").string();
  std::string model_ = (scratch_ / "run/model.safetensors").string();
};

TEST_F(ClassifierCli, LearnsATableAndEvaluatesIt) {
  write_flowers();
  const CliResult trained = train();
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(trained.json()["model"], model_);
  EXPECT_GT(trained.json()["hard_accuracy"], 0.9);
  EXPECT_NE(trained.out.find("samples 98 for training, 24 for validation"), std::string::npos)
      << trained.out;

  const CliResult judged = eval({"--compiled", "--simulated"});
  ASSERT_EQ(judged.code, 0) << judged.err;
  const json answer = judged.json();
  EXPECT_EQ(answer["samples"], 28);
  EXPECT_GT(answer["hard_accuracy"], 0.8);
  EXPECT_EQ(answer["hard_accuracy_compiled"], answer["hard_accuracy"]);
  EXPECT_EQ(answer["samples_simulated"], 28);
  EXPECT_LT(answer["gates_simplified"], answer["gates"]);
  EXPECT_EQ(answer["confusion"].size(), 3U);
  EXPECT_EQ(read_bytes(scratch_ / "run/confusion.png").substr(1, 3), "PNG");
  EXPECT_NE(judged.out.find("actual / predicted"), std::string::npos);

  // Other samples, all of them used for the test.
  const CliResult others = eval({"--data", csv_, "--no-simplify"});
  EXPECT_EQ(others.json()["samples"], 150);
}

TEST_F(ClassifierCli, LearnsTheBitsOfTheClass) {
  write_flowers();
  const CliResult trained = train({"--set", "head.kind=bits", "--set", "head.outputs=61"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_GT(trained.json()["hard_accuracy"], 0.9);
  const CliResult evaluated = eval({"--compiled", "--simulated"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  const json answer = evaluated.json();
  EXPECT_EQ(answer["hard_accuracy_compiled"], answer["hard_accuracy"]);
  EXPECT_EQ(answer["samples_simulated"], 28);
  const std::string file = (scratch_ / "a.blif").string();
  ASSERT_EQ(run_cli({"export", model_, "--format", "blif", "-o", file}).code, 0);
  EXPECT_NE(read_bytes(file).find("class_1"), std::string::npos);
  EXPECT_EQ(read_bytes(file).find("class_2"), std::string::npos);
}

TEST_F(ClassifierCli, LearnsTheWeightsOfOutputs) {
  write_flowers();
  const CliResult trained = train({"--set", "head.weights=powers", "--set", "head.outputs=60"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_GT(trained.json()["hard_accuracy"], 0.9);
  const CliResult evaluated = eval({"--compiled", "--simulated"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  const json answer = evaluated.json();
  EXPECT_EQ(answer["hard_accuracy_compiled"], answer["hard_accuracy"]);
  EXPECT_EQ(answer["samples_simulated"], 28);
  const std::string file = (scratch_ / "a.h").string();
  ASSERT_EQ(run_cli({"export", model_, "--format", "c", "-o", file}).code, 0);
  EXPECT_NE(read_bytes(file).find("flowers_exponents[FLOWERS_OUTPUTS]"), std::string::npos);
}

TEST_F(ClassifierCli, IsTrainedAndEvaluatedOnADevice) {
  if (const auto why_not = why_unavailable(vulkan_device); !why_not.empty())
    GTEST_SKIP() << why_not;
  write_flowers();
  const CliResult trained = train({"--steps", "20", "--set", "network.hidden=[100]", "--set",
                                   "head.outputs=60", "--device", "vulkan"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const json here = eval().json();
  const CliResult other = eval({"--device", "vulkan"});
  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_EQ(other.json()["hard_accuracy"], here["hard_accuracy"]);
  EXPECT_EQ(other.json()["confusion"], here["confusion"]);
  const double soft_loss = here["soft_loss"];
  EXPECT_NEAR(other.json()["soft_loss"].get<double>(), soft_loss, 1e-4 * soft_loss);
}

TEST_F(ClassifierCli, ExportsThresholdsAndClass) {
  write_flowers();
  ASSERT_EQ(train({"--steps", "20", "--overwrite"}).code, 0);
  const auto exported = [&](const std::string& format, const std::string& name) {
    const std::string file = (scratch_ / name).string();
    const CliResult result = run_cli({"export", model_, "--format", format, "-o", file, "--json"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.json()["proven"], true);
    return read_bytes(file);
  };
  EXPECT_NE(exported("c", "a.h").find("flowers_classify(const flowers_feature *x"),
            std::string::npos);
  EXPECT_NE(exported("c", "a.h").find("colour = red"), std::string::npos);
  EXPECT_NE(exported("verilog", "a.v").find("module circuit_flowers_classifier"),
            std::string::npos);
  EXPECT_NE(exported("blif", "a.blif").find("class_1"), std::string::npos);
}

TEST_F(ClassifierCli, CountsTheTablesOfTheEncoder) {
  ASSERT_EQ(
      run_cli({"train", "monk1", "--steps", "60", "--quiet", "--out", (scratch_ / "run").string()})
          .code,
      0);
  const CliResult bytes = run_cli({"inspect", model_, "--lut6", "--json"});
  ASSERT_EQ(bytes.code, 0) << bytes.err;
  const json counts = bytes.json()["lut6"];
  EXPECT_GT(counts["tables"], 0);
  EXPECT_GT(counts["thresholds"], 0);
  EXPECT_LE(counts["thresholds"], bytes.json()["inputs"]);
  EXPECT_LE(counts["encoder"], 2 * counts["thresholds"].get<std::int64_t>());
  EXPECT_NE(bytes.out.find("  with encoder "), std::string::npos) << bytes.out;

  write_flowers();
  ASSERT_EQ(train({"--steps", "20", "--overwrite"}).code, 0);
  EXPECT_FALSE(run_cli({"inspect", model_, "--lut6", "--json"}).json()["lut6"].contains("encoder"))
      << "its features are not bytes";
}

TEST_F(ClassifierCli, ReportsInvalidData) {
  const auto complains = [&](const CliResult& result, const std::string& message) {
    EXPECT_EQ(result.code, 1);
    EXPECT_EQ(result.complaint(), message);
  };
  complains(train(), "[csv] cannot read " + csv_ + ": No such file or directory");
  write_bytes(csv_, "a,b\n1,2\n");
  complains(train(), "[csv] " + csv_ + ": no column 'kind'; the columns are a, b");
  write_bytes(csv_, "a,kind\n1,x\n2,y\nthree,x\n");
  complains(train(), "[csv] " + csv_ +
                         ":4: expected a number in column 'a', received 'three', but a number in "
                         "line 2; --set data.categories=a reads categories");
  complains(run_cli({"train", "mnist", "--out", (scratch_ / "run").string()}),
            "[data] mnist needs data: give its folder with --data");
  complains(run_cli({"train", "mnist", "--data", "/nowhere", "--out", (scratch_ / "run").string()}),
            "[data] /nowhere: no such folder");
  const CliResult wrong = run_cli({"train", "add", "--data", csv_});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.complaint(), "[train] --data is for classifiers, not for add");
}

TEST_F(ClassifierCli, ResumesWithItsData) {
  write_flowers();
  ASSERT_EQ(train({"--steps", "30"}).code, 0);
  const CliResult more =
      run_cli({"train", "--resume", (scratch_ / "run").string(), "--steps", "60", "--json"});
  ASSERT_EQ(more.code, 0) << more.err;
  EXPECT_EQ(more.json()["steps"], 60);
}

}  // namespace
}  // namespace boolgrad
