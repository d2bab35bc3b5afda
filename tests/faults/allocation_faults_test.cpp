// Lets allocations of a run fail, one in each run.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>  // setenv is POSIX's, not C++'s

#include <cstdint>
#include <filesystem>
#include <regex>
#include <string>

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

/// Sets variables of the environment for the programs that are run meanwhile.
class Preloaded {
 public:
  Preloaded(std::int64_t failing, const std::string& count_path) {
    setenv("LD_PRELOAD", BOOLGRAD_FAILING_ALLOCATION, 1);
    setenv("FAIL_ALLOCATION", std::to_string(failing).c_str(), 1);
    if (!count_path.empty()) setenv("ALLOCATION_COUNT", count_path.c_str(), 1);
  }
  ~Preloaded() {
    for (const char* name : {"LD_PRELOAD", "FAIL_ALLOCATION", "ALLOCATION_COUNT"}) unsetenv(name);
  }
  Preloaded(const Preloaded&) = delete;
  Preloaded& operator=(const Preloaded&) = delete;
};

TEST(AllocationFaults, AreReportedAndLoseNothing) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "sanitizers have allocators of their own";
#else
  const TinyRun tiny;
  const std::string counted = tiny.folder("count").string();
  {
    const Preloaded preloaded(0, counted);
    ASSERT_EQ(run_cli(tiny.arguments(tiny.folder("counted"))).code, 0);
  }
  const std::int64_t allocations = std::stoll(read_bytes(counted));
  ASSERT_GT(allocations, 1000);
  // A prime, so that the samples do not follow the loops of the program.
  const std::int64_t samples = 211;
  std::int64_t ended_by_libraries = 0;
  const std::regex out_of_memory("out of memory|Cannot allocate memory");
  for (std::int64_t i = 0; i < samples; ++i) {
    const std::int64_t failing = 1 + i * allocations / samples;
    SCOPED_TRACE(fmt::format("allocation {} of {}", failing, allocations));
    const fs::path folder = tiny.folder(fmt::format("allocation-{}", failing));
    CliResult result;
    {
      const Preloaded preloaded(failing, "");
      result = run_cli(tiny.arguments(folder));
    }
    // Libraries that cannot report a failure end the process: the CUDA runtime before `main`, the
    // directory iterator of the C++ library, and the one that looks for fonts.
    if (result.code == aborted || result.code == segmentation_fault) {
      ++ended_by_libraries;
    } else if (result.code != 0) {
      EXPECT_TRUE(std::regex_search(result.err, out_of_memory)) << result.err;
    }
    if (fs::exists(folder)) tiny.expect_recovery(folder);
    fs::remove_all(folder);
  }
  EXPECT_LT(ended_by_libraries, samples / 4);
  RecordProperty("ended_by_libraries", std::to_string(ended_by_libraries));
  RecordProperty("allocations", std::to_string(samples));
#endif
}

}  // namespace
}  // namespace boolgrad
