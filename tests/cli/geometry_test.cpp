// Unions of disks on the command line: `verify` and `bench geometry`.
#include <gtest/gtest.h>

#include <filesystem>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "boolgrad/tensor/safetensors.h"
#include "tests/cli/run_cli.h"

namespace boolgrad {
namespace {

using nlohmann::json;
using std::numbers::pi;
using testing_support::CliResult;
using testing_support::run_cli;
using testing_support::ScratchFolder;

std::string shipped_disks() { return BOOLGRAD_GOLDENS_DIR "/disks.safetensors"; }

/// A disjoint pair and its correct values, which tests may modify.
TensorFile one_pair() {
  TensorFile file;
  file.tensors["pairs/disks"] = Tensor::of(std::vector<double>{0, 0, 1, 5, 0, 2}, {1, 2, 3});
  file.tensors["pairs/area"] = Tensor::of(std::vector<double>{5 * pi});
  file.tensors["pairs/grad"] =
      Tensor::of(std::vector<double>{0, 0, 2 * pi, 0, 0, 4 * pi}, {1, 2, 3});
  file.tensors["pairs/label"] = Tensor::of(std::vector<std::int32_t>{0});
  file.tensors["pairs/boundary"] = Tensor::of(std::vector<std::int32_t>{0});
  return file;
}

class DiskFileTest : public testing::Test {
 protected:
  CliResult run(const std::vector<std::string>& before, const std::vector<std::string>& after) {
    save_safetensors(path_, file_);
    std::vector<std::string> words = before;
    words.push_back(path_);
    words.insert(words.end(), after.begin(), after.end());
    return run_cli(words);
  }
  CliResult verify() { return run({"verify"}, {"--json"}); }

  ScratchFolder scratch_;
  std::string path_ = (scratch_ / "file.safetensors").string();
  TensorFile file_ = one_pair();
};

TEST(VerifyDisks, ShippedValuesPassAtEveryBoundary) {
  const CliResult result = run_cli({"verify", shipped_disks(), "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  const json answer = result.json();
  std::set<std::string> names;
  for (const json& check : answer["cases"]) {
    names.insert(check["name"]);
    const std::string tensor = check["tensor"];
    const double tolerance = tensor.ends_with("area") ? 1e-12 : tensor == "label" ? 0 : 1e-9;
    EXPECT_EQ(check["tolerance"], tolerance);
    EXPECT_LE(check["max_error"].get<double>(), tensor == "label" ? 0 : 1e-14) << check;
  }
  EXPECT_EQ(names, (std::set<std::string>{"many10", "many3", "many40", "many5", "pairs",
                                          "pairs.external", "pairs.internal"}));
}

TEST_F(DiskFileTest, CorrectValuesPass) { EXPECT_EQ(verify().json()["pass"], true); }

TEST_F(DiskFileTest, WrongValuesFail) {
  file_.tensors["pairs/label"] = Tensor::of(std::vector<std::int32_t>{1});
  EXPECT_EQ(verify().code, 1);
  file_ = one_pair();
  file_.tensors["pairs/area"] = Tensor::of(std::vector<double>{5 * pi * (1 + 1e-11)});
  EXPECT_EQ(verify().json()["pass"], false);
  file_ = one_pair();
  file_.tensors["pairs/grad"].mutable_values<double>()[0] = 1e-7;
  EXPECT_EQ(verify().json()["pass"], false);
}

TEST_F(DiskFileTest, RejectsInvalidFiles) {
  file_.tensors["pairs/disks"] = Tensor::zeros({2, 3}, DType::float64);
  EXPECT_EQ(verify().complaint(),
            "[verify] " + path_ + ": expected disks [1, n, 3] in pairs, received [2, 3]");
  file_ = one_pair();
  file_.tensors["pairs/boundary"] = Tensor::of(std::vector<std::int32_t>{3});
  EXPECT_EQ(verify().complaint(),
            "[verify] " + path_ + ": expected a boundary of 0, 1 or 2, received 3");
  file_.tensors.erase("pairs/boundary");
  EXPECT_EQ(verify().complaint(), "[verify] " + path_ + ": tensor pairs/boundary is missing");
  file_ = one_pair();
  file_.tensors["pairs/disks"].mutable_values<double>()[2] = -1;
  EXPECT_EQ(
      verify().complaint(),
      "[disk_union_area] expected radii of 0 or between 1e-70 and 1e70, received -1 at disk 0");
}

TEST_F(DiskFileTest, BenchTimesTheCasesOfAFile) {
  const CliResult result = run({"bench", "geometry", "--file"}, {"--repeat", "2", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  ASSERT_EQ(result.json()["benchmarks"].size(), 1U);
  const json row = result.json()["benchmarks"][0];
  EXPECT_EQ(row["name"], "geometry.pairs");
  EXPECT_LE(row["max_error"].get<double>(), 1e-14);
}

TEST_F(DiskFileTest, BenchRejectsOtherFiles) {
  file_ = {};
  EXPECT_EQ(
      run({"bench", "geometry", "--file"}, {}).complaint(),
      "[bench] " + path_ + ": expected disks with areas and gradients, received other tensors");
}

TEST(BenchGeometry, TimesUnionsAndRunsTheStudy) {
  const ScratchFolder scratch;
  const CliResult result =
      run_cli({"bench", "geometry", "--repeat", "1", "--plots", scratch.path().string(), "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  const json answer = result.json();
  std::vector<std::string> names;
  for (const json& row : answer["benchmarks"]) {
    names.push_back(row["name"]);
    EXPECT_LE(row["max_error"].get<double>(), 1e-13) << row;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"geometry.pairs", "geometry.union.1000",
                                             "geometry.union.10000", "geometry.union.100000"}));
  EXPECT_EQ(answer["geometry"]["errors"].size(), 56U);
  EXPECT_EQ(answer["geometry"]["approach"].size(), 24U);
  EXPECT_EQ(answer["geometry"]["fits"].size(), 6U);
  for (const char* plot : {"tangency_external_meeting.png", "tangency_external_beyond.png",
                           "tangency_internal_meeting.png", "tangency_internal_beyond.png",
                           "tangency_approach.png", "fit_radius.png", "fit_centre.png"}) {
    EXPECT_TRUE(std::filesystem::exists(scratch / plot)) << plot;
  }
}

TEST(BenchGeometry, IsTheOnlyBenchmarkWithPlots) {
  const CliResult result = run_cli({"bench", "lut", "--plots", "folder"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.complaint(), "--plots is for the benchmark geometry, without --file");
}

}  // namespace
}  // namespace boolgrad
