// Common behaviour of all commands.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "boolgrad/core/build_info.h"
#include "tests/cli/run_cli.h"

namespace boolgrad {
namespace {

using testing_support::CliResult;
using testing_support::run_cli;

TEST(CommandLine, VersionDescribesTheBuildAndTheMachine) {
  const CliResult result = run_cli({"--version"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(result.out.starts_with(build_summary())) << result.out;
  EXPECT_NE(result.out.find("\nSIMD       "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("\nthreads    "), std::string::npos) << result.out;
}

const std::vector<std::string> commands = {"train",   "sweep",      "run",    "eval",   "predict",
                                           "explain", "inspect",    "export", "verify", "bench",
                                           "devices", "completion", "manual"};

TEST(CommandLine, HelpListsEachCommandOnOneShortLine) {
  const CliResult result = run_cli({"--help"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "");
  for (const std::string& command : commands) {
    const std::size_t at = result.out.find("\n  " + command + " ");
    ASSERT_NE(at, std::string::npos) << command << ": " << result.out;
    const std::string line = result.out.substr(at + 1, result.out.find('\n', at + 1) - at - 1);
    const std::size_t description = line.find_first_not_of(' ', 2 + command.size());
    ASSERT_NE(description, std::string::npos) << line;
    EXPECT_LT(line.size() - description, 80U) << line;
    EXPECT_TRUE(line.ends_with('.')) << line << " is continued on another line";
  }
}

TEST(CommandLine, HelpOfEveryCommandHasAnExampleAndTheCommonOptions) {
  for (const std::string& command : commands) {
    const CliResult result = run_cli({command, "--help"});
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.err, "");
    EXPECT_NE(result.out.find("Example:\n  boolgrad " + command), std::string::npos) << result.out;
    for (const char* option : {"--json", "--quiet", "--threads"}) {
      EXPECT_NE(result.out.find(option), std::string::npos) << result.out;
    }
  }
}

TEST(CommandLine, NoCommandIsWrongUsage) {
  const CliResult result = run_cli({});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.complaint(), "expected a command, received none; see boolgrad --help");
}

TEST(CommandLine, SuggestsACommandForAnUnknownOne) {
  CliResult result = run_cli({"verfy", "file"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.complaint(),
            "expected a command, received 'verfy' (did you mean 'verify'?); see boolgrad --help");
  result = run_cli({"Bench"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.complaint(),
            "expected a command, received 'Bench' (did you mean 'bench'?); see boolgrad --help");
  result = run_cli({"something-else"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.complaint(),
            "expected a command, received 'something-else'; see boolgrad --help");
}

TEST(CommandLine, ControlCharactersStayOnOneLine) {
  const CliResult result = run_cli({"a\nb\x1B[31m"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.complaint(), "expected a command, received 'a?b?[31m'; see boolgrad --help");
}

TEST(CommandLine, UnknownOptionsAreWrongUsage) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--nonsense"},
                                                {"verify", "--nonsense"},
                                                {"bench", "--nonsense"}}) {
    const CliResult result = run_cli(words);
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.complaint().find("--nonsense"), std::string::npos) << result.complaint();
  }
}

TEST(CommandLine, ThreadsAreChecked) {
  for (const std::string threads : {"0", "-1", "many", "1.5", "1000000000000"}) {
    const CliResult result = run_cli({"verify", "--threads", threads});
    EXPECT_EQ(result.code, 2) << threads;
    EXPECT_NE(result.complaint().find("--threads"), std::string::npos) << result.complaint();
  }
}

TEST(CommandLine, DevicesAreChecked) {
  CliResult result = run_cli({"verify", "--device", "abacus"});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.complaint().find("abacus"), std::string::npos) << result.complaint();
  result = run_cli({"bench", "ops", "--device", "vulkan"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.complaint(),
            "[device] expected cpu, the only supported device here, received vulkan");
  result = run_cli({"verify", "--device", "vulkan:x"});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(
      result.complaint().find("expected cpu, cuda, cuda:N, vulkan or vulkan:N, received vulkan:x"),
      std::string::npos)
      << result.complaint();
}

TEST(CommandLine, OldNamesOfOptionsAreAcceptedWithANotice) {
  const CliResult loud = run_cli({"eval", "none.safetensors", "--grids", "5"});
  EXPECT_EQ(loud.code, 1);
  EXPECT_TRUE(loud.err.starts_with("note: --grids is now --starts\nboolgrad: ")) << loud.err;
  const CliResult quiet = run_cli({"eval", "none.safetensors", "--grids=5", "--quiet"});
  EXPECT_EQ(quiet.code, 1);
  EXPECT_TRUE(quiet.err.starts_with("boolgrad: [safetensors] ")) << quiet.err;
  const CliResult both = run_cli({"eval", "none.safetensors", "--grids", "5", "--starts", "5"});
  EXPECT_EQ(both.code, 2);
  EXPECT_EQ(both.complaint(), "expected --starts or its old name --grids, received both");
  EXPECT_EQ(run_cli({"eval", "--help"}).out.find("--grids"), std::string::npos);
}

TEST(CommandLine, AFullDiskIsAFailure) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  const CliResult result = run_cli({"--version"}, "/dev/full");
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.complaint(), "cannot write to standard output");
}

}  // namespace
}  // namespace boolgrad
