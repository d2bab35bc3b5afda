// Explanations, completion scripts and the manual page on the command line.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/run_cli.h"
#include "tests/support/tools.h"

namespace boolgrad {
namespace {

namespace fs = std::filesystem;

using testing_support::CliResult;
using testing_support::run_cli;
using testing_support::run_tool;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

class ExplainCli : public testing::Test {
 protected:
  /// Flowers are lilies if they are long, whatever their width.
  void SetUp() override {
    std::string text = "length,width,kind\n";
    for (int i = 0; i < 120; ++i) {
      const int length = i * 37 % 101;
      text += fmt::format("{},{},{}\n", length, i * 53 % 97, length > 60 ? "lily" : "rose");
    }
    write_bytes(scratch_ / "flowers.csv", text);
    const CliResult trained =
        run_cli({"train", "table", "--data", (scratch_ / "flowers.csv").string(), "--out", run_});
    ASSERT_EQ(trained.code, 0) << trained.err;
  }

  ScratchFolder scratch_;
  std::string run_ = (scratch_ / "run").string();
};

TEST_F(ExplainCli, NamesTheFeatureThatMattersMost) {
  const CliResult result = run_cli({"explain", run_, "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("\n  feature  bits read  influence  bit with the most influence\n"
                            "  length "),
            std::string::npos)
      << result.out;
  EXPECT_EQ(result.json()["inputs"][0]["name"], "length");
  EXPECT_GT(result.json()["inputs"][0]["influence"], result.json()["inputs"][1]["influence"]);
  EXPECT_TRUE(fs::exists(run_ + "/influences.png"));
}

TEST_F(ExplainCli, GivesTheConditionsOfAnAnswer) {
  write_bytes(scratch_ / "new.csv", "width,length\n5,95\n5,x\n5,10\n");
  const std::vector<std::string> arguments = {"explain", run_, "--data",
                                              (scratch_ / "new.csv").string(), "--sample"};
  const auto explained = [&](const std::string& sample) {
    std::vector<std::string> words = arguments;
    words.insert(words.end(), {sample, "--json"});
    return run_cli(words);
  };
  const CliResult lily = explained("2");
  ASSERT_EQ(lily.code, 0) << lily.err;
  EXPECT_EQ(lily.json()["decision"]["answer"], "lily");
  EXPECT_NE(lily.out.find("line 2: lily\n  whatever else the inputs are, because\n    length > "),
            std::string::npos)
      << lily.out;
  EXPECT_EQ(explained("4").json()["decision"]["answer"], "rose");
  const CliResult refused = explained("3");
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.err,
            "note: line 3 cannot be used: expected a number in column 'length', received 'x'\n"
            "boolgrad: [explain] expected a line from 2 to 4 for --sample, received '3'\n");
}

TEST_F(ExplainCli, RefusesWhatItCannotExplain) {
  const std::string many = run_cli({"explain", run_, "--sample", "100000"}).complaint();
  EXPECT_TRUE(many.starts_with("[explain] expected a sample from 0 to ")) << many;
  const std::string circuit = (scratch_ / "and").string();
  ASSERT_EQ(run_cli({"train", "and", "--out", circuit, "--steps", "1"}).code, 0);
  const CliResult result = run_cli({"explain", circuit, "--data", "x.csv"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.complaint(),
            "[explain] --data is for classifiers, not for circuits and automata");
  EXPECT_EQ(run_cli({"explain", circuit, "--sample", "x"}).complaint(),
            "[explain] expected a number for --sample, received 'x'");
}

// ---------------------------------------------------------------------------------------------
// Completion

class CompletionCli : public testing::Test {
 protected:
  /// What bash offers for the last of these words.
  std::string offered(const std::string& words) const {
    const std::string script = (scratch_ / "script").string();
    write_bytes(script, run_cli({"completion", "bash"}).out);
    return run_tool(fmt::format("bash -c 'source {} && COMP_WORDS=({}) && "
                                "COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)) && _boolgrad && "
                                "echo -n \"${{COMPREPLY[@]}}\"'",
                                script, words))
        .output;
  }

  ScratchFolder scratch_;
};

TEST_F(CompletionCli, BashOffersCommandsOptionsAndValues) {
  EXPECT_EQ(offered("boolgrad tr"), "train");
  EXPECT_EQ(offered("boolgrad train multiply_"), "multiply_gates");
  EXPECT_EQ(offered("boolgrad train --overw"), "--overwrite");
  EXPECT_EQ(offered("boolgrad train --device vu"), "vulkan");
  EXPECT_EQ(offered("boolgrad export model --format veri"), "verilog");
  EXPECT_EQ(offered("boolgrad train --steps \"\""), "");
  write_bytes(scratch_ / "data.csv", "");
  EXPECT_EQ(offered("boolgrad predict run --data " + (scratch_ / "da").string()),
            (scratch_ / "data.csv").string());
}

TEST_F(CompletionCli, EveryShellKnowsEveryCommand) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const CliResult result = run_cli({"completion", shell});
    ASSERT_EQ(result.code, 0) << result.err;
    for (const char* word :
         {"explain", "predict", "--skip-bad-rows", "--no-simplify", "checkerboard"}) {
      // fish writes long options without dashes.
      const std::string expected = shell == "fish" && word[0] == '-' ? word + 2 : word;
      EXPECT_NE(result.out.find(expected), std::string::npos) << shell << ": " << word;
    }
  }
}

TEST_F(CompletionCli, RefusesOtherShells) {
  const CliResult result = run_cli({"completion", "bahs"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.complaint(),
            "[completion] expected bash, zsh or fish, received 'bahs' (did you mean 'bash'?)");
}

TEST(ManualCli, DescribesEveryOption) {
  const CliResult result = run_cli({"manual"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with(".TH BOOLGRAD 1 ")) << result.out.substr(0, 80);
  EXPECT_NE(result.out.find(".SS \\fBboolgrad predict\\fR \\fIMODEL\\fR [\\fIoptions\\fR]\n"),
            std::string::npos);
  EXPECT_NE(result.out.find("\n\\fB\\-\\-skip\\-bad\\-rows\\fR\n"), std::string::npos);
}

}  // namespace
}  // namespace boolgrad
