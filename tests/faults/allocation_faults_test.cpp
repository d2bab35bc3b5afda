// Lets allocations of a run fail, one in each run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/run_cli.h"
#include "tests/faults/tiny_run.h"

namespace boolgrad {
namespace {

namespace fs = std::filesystem;

using testing_support::CliResult;
using testing_support::read_bytes;
using testing_support::run_cli;
using testing_support::TinyRun;

constexpr int aborted = 128 + 6;
constexpr int segmentation_fault = 128 + 11;
constexpr int hanging = 128 + 9;  // killed by `timeout`

/// Runs the program while an allocation fails. `variables` go into its environment.
CliResult run_failing(std::int64_t failing, const std::vector<std::string>& arguments,
                      const std::vector<std::string>& variables = {}) {
  std::vector<std::string> words = {"--signal=KILL", "10", "env",
                                    std::string("LD_PRELOAD=") + BOOLGRAD_FAILING_ALLOCATION,
                                    fmt::format("FAIL_ALLOCATION={}", failing)};
  words.insert(words.end(), variables.begin(), variables.end());
  words.emplace_back(BOOLGRAD_CLI);
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_cli(words, "", "/usr/bin/timeout");
}

TEST(AllocationFaults, AreReportedAndLoseNothing) {
  if (testing_support::is_sanitized) GTEST_SKIP() << "the program is sanitized";
  const TinyRun tiny;
  const std::string counted = tiny.folder("count").string();
  ASSERT_EQ(
      run_failing(0, tiny.arguments(tiny.folder("counted")), {"ALLOCATION_COUNT=" + counted}).code,
      0);
  const std::int64_t allocations = std::stoll(read_bytes(counted));
  ASSERT_GT(allocations, 1000);
  // A prime, so that the samples do not follow the loops of the program.
  const std::int64_t samples = 211;
  std::int64_t ended_by_libraries = 0;
  std::int64_t reported = 0;
  for (std::int64_t i = 0; i < samples; ++i) {
    const std::int64_t failing = 1 + i * allocations / samples;
    SCOPED_TRACE(fmt::format("allocation {} of {}", failing, allocations));
    const fs::path folder = tiny.folder(fmt::format("allocation-{}", failing));
    const CliResult result = run_failing(failing, tiny.arguments(folder));
    // Libraries that cannot report a failure end the process or hang: the CUDA runtime before
    // `main`, the directory iterator of the C++ library, and the one that looks for fonts.
    if (result.code == aborted || result.code == segmentation_fault || result.code == hanging) {
      ++ended_by_libraries;
    } else if (result.code != 0) {
      EXPECT_EQ(result.code, 1);
      EXPECT_NE(result.err.find("boolgrad: "), std::string::npos) << result.err;
      ++reported;
    }
    if (fs::exists(folder)) tiny.expect_recovery(folder);
    fs::remove_all(folder);
  }
  EXPECT_GT(reported, 0);
  RecordProperty("ended_by_libraries", std::to_string(ended_by_libraries));
  RecordProperty("allocations", std::to_string(samples));
}

}  // namespace
}  // namespace boolgrad
