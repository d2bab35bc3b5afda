// What all commands have in common.
#include <gtest/gtest.h>

#include <string>

#include "boolgrad/core/build_info.h"
#include "tests/cli/run_cli.h"

namespace boolgrad {
namespace {

using testing_support::CliResult;
using testing_support::run_cli;

TEST(CommandLine, VersionSaysWhatWasBuiltAndWhereItRuns) {
  const CliResult result = run_cli({"--version"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(result.out.starts_with(build_summary())) << result.out;
  EXPECT_NE(result.out.find("\nSIMD       "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("\nthreads    "), std::string::npos) << result.out;
}

TEST(CommandLine, HelpListsTheCommands) {
  const CliResult result = run_cli({"--help"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "");
  for (const char* command : {"verify", "bench"}) {
    EXPECT_NE(result.out.find(command), std::string::npos) << result.out;
  }
}

TEST(CommandLine, HelpOfEveryCommandHasAnExampleAndTheCommonOptions) {
  for (const std::string command : {"verify", "bench"}) {
    const CliResult result = run_cli({command, "--help"});
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.err, "");
    EXPECT_NE(result.out.find("Example:\n  boolgrad " + command), std::string::npos) << result.out;
    for (const char* option : {"--json", "--quiet", "--threads", "--device"}) {
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

TEST(CommandLine, AnUnknownCommandGetsTheNearest) {
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

TEST(CommandLine, AHostileWordStaysOnOneLine) {
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
            "[device] expected cpu, the only device that this runs on so far, received vulkan");
  result = run_cli({"verify", "--device", "vulkan:x"});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(
      result.complaint().find("expected cpu, cuda, cuda:N, vulkan or vulkan:N, received vulkan:x"),
      std::string::npos)
      << result.complaint();
}

TEST(CommandLine, AFullDiskIsAFailure) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  const CliResult result = run_cli({"--version"}, "/dev/full");
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.complaint(), "expected to write to standard output, received an error");
}

}  // namespace
}  // namespace boolgrad
