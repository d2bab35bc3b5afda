// `boolgrad cost`: gates, look-up tables and area of circuits and classifiers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/run_cli.h"
#include "tests/support/tools.h"

namespace boolgrad {
namespace {

using nlohmann::json;
using testing_support::CliResult;
using testing_support::run_cli;
using testing_support::run_tool;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

const char* const full_adder =
    ".model adder\n.inputs a b c\n.outputs s t\n.names a b c s\n100 1\n010 1\n001 1\n111 1\n"
    ".names a b c t\n11- 1\n1-1 1\n-11 1\n.end\n";

class CostCli : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return (scratch_ / name).string(); }

  std::string written(const std::string& name, const std::string& content) const {
    write_bytes(file(name), content);
    return file(name);
  }

  /// A trained table of numbers whose class depends on their sum. Returns the model.
  std::string trained(const std::string& run, const std::string& head, bool has_number = false) {
    std::string text = "a,b,c,kind\n";
    for (int i = 0; i < 120; ++i) {
      const int a = i * 37 % 101;
      const int b = i * 53 % 97;
      const int c = i * 29 % 89;
      text += fmt::format("{}.5,{},{},{}\n", a, b, c,
                          has_number        ? std::to_string(a + b) + ".25"
                          : a + b + c < 120 ? "low"
                          : a + b + c < 170 ? "middle"
                                            : "high");
    }
    const std::string experiment = written(
        run + ".toml", fmt::format("[task]\nkind = 'csv'\n[binarise]\nkind = "
                                   "'quantile'\nthresholds = 6\n[network]\nhidden = [60, 40]\n"
                                   "[head]\nkind = '{}'\noutputs = 36\ntemperature = 2\n"
                                   "[training]\nsteps = 60\nbatch = 32\n",
                                   head));
    const CliResult result = run_cli({"train", experiment, "--data", written(run + ".csv", text),
                                      "--target", "kind", "--out", file(run), "--threads", "2"});
    EXPECT_EQ(result.code, 0) << result.err;
    return file(run);
  }

  static json cost(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"cost", "--json", "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CliResult result = run_cli(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.json();
  }

  ScratchFolder scratch_;
};

TEST_F(CostCli, CountsACircuit) {
  const std::string adder = written("adder.blif", full_adder);
  const CliResult result = run_cli({"cost", adder, "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out.substr(0, result.out.find('{')),
            adder +
                "\n  part          gates     LUT4     LUT6          GE   depth\n"
                "  logic             5        2        2        7.33       3\n");
  const json answer = result.json();
  EXPECT_EQ(answer["gates"], 5);
  EXPECT_EQ(answer["lut4"], 2);
  EXPECT_EQ(answer["lut6"], 2);
  EXPECT_NEAR(answer["ge"], 7.33, 1e-9);
  EXPECT_EQ(answer["depth"], 3);
  EXPECT_EQ(answer["cells"], (json{{"xor2", 2}, {"maj3", 1}}));
  EXPECT_EQ(answer["parts"].size(), 1U);
  EXPECT_FALSE(answer.contains("comparisons"));
}

TEST_F(CostCli, CountsByAnotherLibrary) {
  const std::string gate =
      written("and.blif", ".model and\n.inputs a b\n.outputs y\n.names a b y\n11 1\n.end\n");
  const std::string library =
      written("own.genlib", "GATE inv 2 y=!a;\nGATE nand 4 y=!(a*b);\nGATE and5 1 y=a*b*c*d*e;\n");
  const CliResult result = run_cli({"cost", gate, "--library", library, "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  // A NAND and an inverter: an area of 6 in units of 4.
  EXPECT_EQ(result.json()["ge"], 1.5);
  EXPECT_EQ(result.json()["library"], library);
  EXPECT_EQ(result.err,
            "note: " + library + ": 1 latches and cells of more than 4 inputs are not used\n");
  EXPECT_EQ(run_cli({"cost", gate, "--library", library, "--quiet"}).err, "");
  EXPECT_NEAR(run_cli({"cost", gate, "--json"}).json()["ge"], 1.67, 1e-9);
}

TEST_F(CostCli, AnInstalledProgramFindsItsLibrary) {
  std::filesystem::create_directories(file("bin"));
  std::filesystem::create_directories(file("share/boolgrad/libraries"));
  std::filesystem::copy_file(BOOLGRAD_CLI, file("bin/boolgrad"));
  written("share/boolgrad/libraries/cells.genlib",
          "GATE inv 1 y=!a;\nGATE nand 2 y=!(a*b);\nGATE fa 8 y=a^b^c;\n");
  const std::string parity = written(
      "parity.blif",
      ".model p\n.inputs a b c\n.outputs y\n.names a b c y\n100 1\n010 1\n001 1\n111 1\n.end\n");
  const CliResult result = run_cli({"cost", parity, "--json"}, "", file("bin/boolgrad"));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json()["ge"], 4);
  EXPECT_EQ(result.json()["cells"], (json{{"fa", 1}}));
}

TEST_F(CostCli, CanSkipSimplification) {
  // The same sum of three bits twice, in another order.
  const std::string twice = written(
      "twice.blif",
      ".model twice\n.inputs a b c\n.outputs y z\n.names a b n\n01 1\n10 1\n.names n c y\n01 1\n"
      "10 1\n.names b c m\n01 1\n10 1\n.names a m z\n01 1\n10 1\n.end\n");
  EXPECT_EQ(cost({twice})["gates"], 2);
  EXPECT_EQ(cost({twice, "--as-trained"})["gates"], 4);
}

TEST_F(CostCli, SplitsAClassifier) {
  const std::string model = trained("three", "classes");
  const json answer = cost({model});
  std::vector<std::string> names;
  json sum = {{"gates", 0}, {"lut4", 0}, {"lut6", 0}, {"ge", 0.0}, {"depth", 0}};
  for (const json& part : answer["parts"]) {
    names.push_back(part["name"]);
    for (const char* key : {"gates", "lut4", "lut6", "depth"}) {
      EXPECT_GE(part[key], 0) << part;
      sum[key] = sum[key].get<int>() + part[key].get<int>();
    }
    EXPECT_GT(part["ge"], 0) << part;
    sum["ge"] = sum["ge"].get<double>() + part["ge"].get<double>();
  }
  EXPECT_EQ(names, (std::vector<std::string>{"encoder", "logic", "head", "arg max"}));
  for (const char* key : {"gates", "lut4", "lut6", "depth"})
    EXPECT_EQ(answer[key], sum[key]) << key;
  EXPECT_NEAR(answer["ge"], sum["ge"], 1e-6);
  EXPECT_GT(answer["comparisons"], 0);
  EXPECT_LE(answer["comparisons"], 18);
  EXPECT_GE(cost({model, "--as-trained"})["gates"], answer["gates"]);
  EXPECT_EQ(answer, cost({model, "--threads", "1"}));
}

TEST_F(CostCli, NamesThePartsOfOtherHeads) {
  const auto parts = [&](const std::string& model) {
    std::vector<std::string> names;
    const json answer = cost({model});
    for (const json& part : answer["parts"]) {
      names.push_back(part["name"]);
      for (const char* key : {"gates", "lut4", "lut6", "depth"}) EXPECT_GE(part[key], 0) << part;
      EXPECT_GE(part["ge"], 0) << part;
    }
    return names;
  };
  EXPECT_EQ(parts(trained("bits", "bits")),
            (std::vector<std::string>{"encoder", "logic", "head", "votes"}));
  EXPECT_EQ(parts(trained("number", "regression", true)),
            (std::vector<std::string>{"encoder", "logic", "head"}));
}

TEST_F(CostCli, AgreesWithAbcOnTheExportedFile) {
  if (run_tool("command -v yosys-abc").code != 0) GTEST_SKIP() << "yosys-abc is not installed";
  const std::string model = trained("three", "classes");
  const CliResult exported = run_cli({"export", model, "-o", file("three.blif")});
  ASSERT_EQ(exported.code, 0) << exported.err;
  const std::string output =
      run_tool(fmt::format("yosys-abc -c 'read_genlib {}/libraries/cells.genlib; read_blif {}; "
                           "strash; dch; map -a; print_stats'",
                           BOOLGRAD_SOURCE_DIR, file("three.blif")))
          .output;
  const std::size_t at = output.find("area =");
  ASSERT_NE(at, std::string::npos) << output;
  const double abc = std::stod(output.substr(at + 6));
  const json answer = cost({model});
  const double own = answer["ge"].get<double>() - answer["parts"][0]["ge"].get<double>();
  EXPECT_GE(own, 0.9 * abc);
  EXPECT_LE(own, 1.1 * abc);
}

TEST_F(CostCli, RefusesWhatItCannotRead) {
  const auto expect_refused = [](const std::vector<std::string>& more, const std::string& message,
                                 int code = 1) {
    std::vector<std::string> arguments{"cost"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CliResult result = run_cli(arguments);
    EXPECT_EQ(result.code, code);
    EXPECT_EQ(result.complaint(), message);
    EXPECT_EQ(result.out, "");
  };
  const std::string adder = written("adder.blif", full_adder);
  expect_refused({adder, "--library", "/nonexistent.genlib"},
                 "[genlib] cannot read /nonexistent.genlib: No such file or directory");
  const std::string broken = written("broken.genlib", "GATE inv 1 y=!a;\nGATE and 2 y=a*;\n");
  expect_refused({adder, "--library", broken},
                 "[genlib] " + broken + ":2: expected an input, '!' or '(', received ';'");
  const std::string poor = written("poor.genlib", "GATE inv 1 y=!a;\n");
  expect_refused({adder, "--library", poor},
                 "[genlib] " + poor + ": expected a cell '!(a*b)' (a NAND), received none");
}

}  // namespace
}  // namespace boolgrad
