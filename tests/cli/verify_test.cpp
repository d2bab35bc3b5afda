#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "boolgrad/ops/op_table.h"
#include "boolgrad/tensor/safetensors.h"
#include "tests/cli/run_cli.h"

namespace boolgrad {
namespace {

namespace fs = std::filesystem;

using nlohmann::json;
using testing_support::CliResult;
using testing_support::run_cli;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

/// Files of one case, the square root of 4 and 9, with correct values, which tests may modify.
class VerifyTest : public testing::Test {
 protected:
  VerifyTest() {
    file_.metadata["cases"] = R"({"sqrt.small": {}})";
    file_.tensors["sqrt.small/in0"] = Tensor::of(std::vector<double>{4, 9});
    file_.tensors["sqrt.small/out"] = Tensor::of(std::vector<double>{2, 3});
    file_.tensors["sqrt.small/gout"] = Tensor::of(std::vector<double>{4, 6});
    file_.tensors["sqrt.small/grad0"] = Tensor::of(std::vector<double>{1, 1});
  }

  CliResult verify(const std::vector<std::string>& options = {"--json"}) {
    const std::string path = (scratch_ / "file.safetensors").string();
    save_safetensors(path, file_);
    std::vector<std::string> words = {"verify", path};
    words.insert(words.end(), options.begin(), options.end());
    return run_cli(words);
  }

  /// The error message without the path.
  std::string refusal() {
    const CliResult result = verify({});
    EXPECT_EQ(result.code, 1);
    EXPECT_EQ(result.out, "");
    std::string text = result.complaint();
    const std::string path = (scratch_ / "file.safetensors").string();
    const std::size_t at = text.find(path);
    return at == std::string::npos ? text : text.replace(at, path.size(), "FILE");
  }

  void set(const std::string& tensor, const std::vector<double>& values) {
    file_.tensors["sqrt.small/" + tensor] = Tensor::of(values);
  }

  ScratchFolder scratch_;
  TensorFile file_;
};

TEST_F(VerifyTest, CorrectValuesPass) {
  const CliResult result = verify();
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "");
  const json answer = result.json();
  EXPECT_EQ(answer["pass"], true);
  ASSERT_EQ(answer["cases"].size(), 6U);  // out and grad0 in three dtypes
  std::set<std::string> seen;
  for (const json& check : answer["cases"]) {
    EXPECT_EQ(check["name"], "sqrt.small");
    EXPECT_EQ(check["pass"], true);
    EXPECT_LE(check["max_error"].get<double>(), check["tolerance"].get<double>());
    seen.insert(check["tensor"].get<std::string>() + " " + check["dtype"].get<std::string>());
  }
  EXPECT_EQ(seen, (std::set<std::string>{"grad0 float16", "grad0 float32", "grad0 float64",
                                         "out float16", "out float32", "out float64"}));
}

TEST_F(VerifyTest, TolerancesAreThoseOfTheDtypes) {
  const json answer = verify().json();
  for (const json& check : answer["cases"]) {
    const std::string dtype = check["dtype"];
    EXPECT_EQ(check["tolerance"], dtype == "float64" ? 1e-10 : dtype == "float32" ? 1e-5 : 2e-3);
  }
}

TEST_F(VerifyTest, PrintsATableWithoutJson) {
  const CliResult result = verify({});
  EXPECT_EQ(result.code, 0);
  EXPECT_NE(result.out.find("\nsqrt.small "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("1 of 1 cases within tolerance on cpu"), std::string::npos);
}

TEST_F(VerifyTest, QuietPrintsNothingOnSuccess) {
  EXPECT_EQ(verify({"--quiet"}).out, "");
  const CliResult result = verify({"--quiet", "--json"});
  EXPECT_EQ(result.out.find('\n'), result.out.size() - 1);
  EXPECT_EQ(result.json()["pass"], true);
}

TEST_F(VerifyTest, AWrongValueFails) {
  set("out", {2, 3.00000001});
  const CliResult result = verify();
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.complaint(),
            "1 of 1 cases exceed the tolerance, first sqrt.small/out in float64: error 3.33e-09, "
            "tolerance 1e-10");
  const json answer = result.json();
  EXPECT_EQ(answer["pass"], false);
  for (const json& check : answer["cases"]) {
    const bool wrong = check["tensor"] == "out" && check["dtype"] == "float64";
    EXPECT_EQ(check["pass"], !wrong) << check;
  }
}

TEST_F(VerifyTest, AWrongGradientFails) {
  set("grad0", {1, -1});
  const CliResult result = verify();
  EXPECT_EQ(result.code, 1);
  const json answer = result.json();
  for (const json& check : answer["cases"]) EXPECT_EQ(check["pass"], check["tensor"] == "out");
  EXPECT_TRUE(result.complaint().starts_with(
      "1 of 1 cases exceed the tolerance, first sqrt.small/grad0 in float"))
      << result.err;
}

TEST_F(VerifyTest, NotANumberFails) {
  set("in0", {-1, 9});
  const CliResult result = verify();
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.json()["pass"], false);
  EXPECT_TRUE(result.json()["cases"][0]["max_error"].is_null());

  set("in0", {4, 9});
  set("out", {std::numeric_limits<double>::quiet_NaN(), 3});
  EXPECT_EQ(verify().code, 1);
}

TEST_F(VerifyTest, AnotherNumberOfElementsFails) {
  set("out", {2, 3, 4});
  const CliResult result = verify();
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.json()["cases"][0]["message"], "expected 3 elements, received 2");
}

TEST_F(VerifyTest, AnUpstreamGradientThatDoesNotFitFails) {
  set("gout", {1, 2, 3});
  const CliResult result = verify({});
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.complaint().find("expected a shape of 3 elements, received [2]"),
            std::string::npos)
      << result.complaint();
}

TEST_F(VerifyTest, OneWrongCaseDoesNotHideTheOthers) {
  file_.metadata["cases"] = R"({"sqrt.small": {}, "add": {}})";
  file_.tensors["add/in0"] = Tensor::of(std::vector<double>{1, 2, 3});
  file_.tensors["add/in1"] = Tensor::of(std::vector<double>{1, 2});
  file_.tensors["add/out"] = Tensor::of(std::vector<double>{2, 4});
  file_.tensors["add/gout"] = Tensor::of(std::vector<double>{1, 1});
  const CliResult result = verify({"--json"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(result.complaint().starts_with("1 of 2 cases exceed the tolerance, first add/out"))
      << result.err;
  EXPECT_NE(result.out.find("sqrt.small"), std::string::npos);
}

TEST_F(VerifyTest, AllowsForInputRounding) {
  // 0.3 rounds to float16 with an error of 5e-5, so the difference from 0.2999 is rounding only.
  const double a = 0.3;
  const double b = 0.2999;
  file_.metadata["cases"] = R"({"subtract": {}})";
  file_.tensors.clear();
  file_.tensors["subtract/in0"] = Tensor::of(std::vector<double>{a});
  file_.tensors["subtract/in1"] = Tensor::of(std::vector<double>{b});
  file_.tensors["subtract/out"] = Tensor::of(std::vector<double>{a - b});
  file_.tensors["subtract/gout"] = Tensor::of(std::vector<double>{1});
  const CliResult result = verify({"--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  const json answer = result.json();
  EXPECT_FALSE(answer["cases"][0].contains("input_rounding"));
  EXPECT_GT(answer["cases"][2]["input_rounding"].get<double>(), 2e-3);

  // Not in float64, where nothing is rounded.
  file_.tensors["subtract/out"] = Tensor::of(std::vector<double>{(a - b) * (1 + 1e-9)});
  EXPECT_EQ(verify().code, 1);
}

TEST_F(VerifyTest, RejectsUnreadableFiles) {
  const std::string path = (scratch_ / "none").string();
  CliResult result = run_cli({"verify", path, "--json"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.complaint(),
            "[safetensors] cannot read " + path + ": No such file or directory");
  EXPECT_EQ(result.json()["error"], result.complaint());

  write_bytes(path, "short");
  result = run_cli({"verify", path});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.complaint(),
            "[safetensors] " + path + ": expected at least 8 bytes, received 5");
}

TEST_F(VerifyTest, RejectsOtherFiles) {
  file_.metadata.clear();
  EXPECT_EQ(
      refusal(),
      "[verify] FILE: expected reference values of ops, lut, ca, disks, received tensors such "
      "as 'sqrt.small/gout'");
  file_.tensors.clear();
  EXPECT_EQ(
      refusal(),
      "[verify] FILE: expected reference values of ops, lut, ca, disks, received tensors such "
      "as none");
}

TEST_F(VerifyTest, RejectsInvalidCases) {
  const std::string opening = "[reference values] FILE: expected ";
  const auto with_cases = [&](const std::string& cases) {
    file_.metadata["cases"] = cases;
    return refusal();
  };
  const std::string no_cases =
      opening + "metadata 'cases' as a JSON object with at least one case, received ";
  EXPECT_EQ(with_cases("nonsense"), no_cases + "invalid JSON");
  EXPECT_EQ(with_cases("[]"), no_cases + "array");
  EXPECT_EQ(with_cases("{}"), no_cases + "an empty one");
  EXPECT_EQ(with_cases(R"({"sqrt.small": 3})"),
            opening + "options as a JSON object in case 'sqrt.small', received number");
  EXPECT_EQ(with_cases(R"({"sqrt.small": {"flavour": 3}})"),
            opening + "a known option in case 'sqrt.small', received 'flavour'");
  EXPECT_EQ(with_cases(R"({"sqrt.small": {"alpha": "a"}})"),
            opening + "a number as alpha in case 'sqrt.small', received string");
  EXPECT_EQ(with_cases(R"({"sqrt.small": {"axis": [0, "a"]}})"),
            opening + "axis of whole numbers in case 'sqrt.small', received string");
  EXPECT_EQ(with_cases(R"({"sqrt.small": {"keepdims": 1}})"),
            opening + "keepdims true or false in case 'sqrt.small', received number");
  EXPECT_EQ(with_cases(R"({"sqrt.small": {"reduction": "median"}})"),
            opening + "reduction 'sum' or 'mean' in case 'sqrt.small', received 'median'");
  EXPECT_EQ(with_cases(R"({"unheard_of.op": {}})"),
            opening + "a case named after an op in case 'unheard_of.op', received 'unheard_of.op'");
  EXPECT_EQ(with_cases(R"({"add.0": {}})"),
            opening + "tensor 'in0' in case 'add.0', received none");
}

TEST_F(VerifyTest, DeepNestingDoesNotOverflowTheStack) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  file_.metadata["cases"] = R"({"sqrt.small": {"axis": )" + deep + "}}";
  EXPECT_EQ(refusal(),
            "[reference values] FILE: expected axis of whole numbers in case 'sqrt.small', "
            "received array");
}

TEST_F(VerifyTest, RejectsAWrongNumberOfInputs) {
  const std::string opening = "[reference values] FILE: expected ";
  set("in1", {1, 2});
  EXPECT_EQ(refusal(), opening + "1 inputs in case 'sqrt.small', received in1 as well");
  file_.tensors.erase("sqrt.small/in1");
  file_.tensors.erase("sqrt.small/gout");
  EXPECT_EQ(refusal(), opening + "tensor 'gout' in case 'sqrt.small', received none");
}

TEST_F(VerifyTest, AnIntegerInputHasNoGradient) {
  file_.tensors["sqrt.small/in0"] = Tensor::of(std::vector<std::int64_t>{4, 9});
  EXPECT_EQ(refusal(),
            "[reference values] FILE: expected no grad0 of an integer input in case 'sqrt.small', "
            "received one");
}

/// Whether a case is named after an op.
bool names_op(const std::string& name, const OpEntry& op) {
  std::string joined = name;
  std::ranges::replace(joined, '.', '_');
  return joined == op.name || joined.starts_with(std::string(op.name) + "_");
}

TEST(VerifyShipped, AllPassAndCoverEveryOp) {
  const CliResult result = run_cli({"verify", "--json", "--quiet"});
  EXPECT_EQ(result.code, 0) << result.err;
  const json answer = result.json();
  EXPECT_EQ(answer["pass"], true);
  std::set<std::string> names;
  for (const json& check : answer["cases"]) {
    EXPECT_EQ(check["pass"], true) << check;
    names.insert(check["name"]);
  }
  for (const OpEntry& op : op_table()) {
    EXPECT_TRUE(std::ranges::any_of(names, [&](const auto& name) { return names_op(name, op); }))
        << "no reference values of " << op.name;
  }
}

TEST(VerifyShipped, ThreadsDoNotChangeTheErrors) {
  const CliResult one = run_cli({"verify", "--json", "--quiet", "--threads", "1"});
  const CliResult seven = run_cli({"verify", "--json", "--quiet", "--threads", "7"});
  EXPECT_EQ(one.out, seven.out);
}

TEST(VerifyShipped, AnInstalledProgramFindsItsReferenceValues) {
  const ScratchFolder scratch;
  fs::create_directories(scratch / "bin");
  fs::create_directories(scratch / "share/boolgrad/goldens");
  const fs::path program = scratch / "bin/boolgrad";
  fs::copy_file(BOOLGRAD_CLI, program);
  const fs::path goldens = BOOLGRAD_GOLDENS_DIR;
  fs::copy_file(goldens / "ops.safetensors", scratch / "share/boolgrad/goldens/my.safetensors");
  const CliResult result = run_cli({"verify"}, "", program.string());
  EXPECT_TRUE(
      result.out.starts_with((scratch / "share/boolgrad/goldens/my.safetensors\n").string()))
      << result.out.substr(0, 200) << result.err;
}

}  // namespace
}  // namespace boolgrad
