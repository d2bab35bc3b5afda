// Kills a run at every system call that changes files, and lets every one of them fail. Whatever
// happens, the run continues from what it has left to the same bits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/run_cli.h"
#include "tests/faults/tiny_run.h"
#include "tests/support/tools.h"

namespace boolgrad {
namespace {

namespace fs = std::filesystem;

using testing_support::CliResult;
using testing_support::read_bytes;
using testing_support::require_tool;
using testing_support::run_cli;
using testing_support::ScratchFolder;
using testing_support::TinyRun;
using testing_support::write_bytes;

/// The calls that change files or make changes durable.
const std::vector<std::string> calls = {"write", "pwrite64",  "writev", "rename",   "ftruncate",
                                        "fsync", "fdatasync", "unlink", "unlinkat", "mkdir"};

constexpr int killed = 128 + 9;

/// A program under `strace`, which kills it at a system call or lets the call fail.
class FaultyProgram {
 public:
  explicit FaultyProgram(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {}

  /// How often a run makes each call.
  std::map<std::string, std::int64_t> counts() const {
    const ScratchFolder scratch;
    const std::string trace = (scratch / "trace").string();
    const CliResult result =
        run({"-o", trace, "-e", fmt::format("trace={}", fmt::join(calls, ","))});
    EXPECT_EQ(result.code, 0) << result.err;
    std::map<std::string, std::int64_t> counts;
    std::istringstream lines(read_bytes(trace));
    const std::regex call(R"(^\d+ +([a-z0-9]+)\()");
    for (std::string line; std::getline(lines, line);) {
      std::smatch found;
      if (std::regex_search(line, found, call)) ++counts[found[1]];
    }
    return counts;
  }

  /// Kills the program when it makes the call for the nth time.
  CliResult killed_at(const std::string& call, std::int64_t n) const {
    return injected(call, fmt::format("signal=KILL:when={}", n));
  }

  /// Lets the nth call fail. (Failing all later ones would silence the message as well.)
  CliResult failing_at(const std::string& call, std::int64_t n, const std::string& error) const {
    return injected(call, fmt::format("error={}:when={}", error, n));
  }

 private:
  CliResult injected(const std::string& call, const std::string& fault) const {
    return run({"-o", "/dev/null", "-e", fmt::format("trace={}", call), "-e",
                fmt::format("inject={}:{}", call, fault)});
  }

  CliResult run(const std::vector<std::string>& options) const {
    std::vector<std::string> words = {"-f", "-qq"};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back(BOOLGRAD_CLI);
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    return run_cli(words, "", "/usr/bin/strace");
  }

  std::vector<std::string> arguments_;
};

class SystemCallFaults : public testing::Test {
 protected:
  void SetUp() override {
    if (testing_support::is_sanitized) GTEST_SKIP() << "the program is sanitized";
    require_tool("strace", "strace");
  }

  std::map<std::string, std::int64_t> counts() const {
    return FaultyProgram(tiny_.arguments(tiny_.folder("counted"))).counts();
  }

  TinyRun tiny_;
};

TEST_F(SystemCallFaults, KilledAnywhereTrainingContinuesToTheSameBits) {
  std::int64_t kills = 0;
  for (const auto& [call, count] : counts()) {
    for (std::int64_t n = 1; n <= count; ++n) {
      SCOPED_TRACE(fmt::format("killed at {} number {} of {}", call, n, count));
      const fs::path folder = tiny_.folder(fmt::format("{}-{}", call, n));
      const CliResult result = FaultyProgram(tiny_.arguments(folder)).killed_at(call, n);
      ASSERT_EQ(result.code, killed) << result.err;
      ++kills;
      if (fs::exists(folder)) tiny_.expect_recovery(folder);
      fs::remove_all(folder);
    }
  }
  RecordProperty("kills", std::to_string(kills));
}

TEST_F(SystemCallFaults, FailuresOfTheDiskAreReportedAndLoseNothing) {
  std::int64_t failures = 0;
  for (const auto& [call, count] : counts()) {
    for (const std::string error : {"ENOSPC", "EIO"}) {
      for (std::int64_t n = 1; n <= count; ++n) {
        SCOPED_TRACE(fmt::format("{} from {} number {} of {}", error, call, n, count));
        const fs::path folder = tiny_.folder(fmt::format("{}-{}", call, n));
        const CliResult result = FaultyProgram(tiny_.arguments(folder)).failing_at(call, n, error);
        tiny_.expect_report(result, folder, R"(^\[[a-z]+\] .*cannot )");
        ++failures;
        if (fs::exists(folder)) tiny_.expect_recovery(folder);
        fs::remove_all(folder);
      }
    }
  }
  RecordProperty("failures", std::to_string(failures));
}

// A file that reaches its size limit is written in part before the next write fails.
TEST_F(SystemCallFaults, FilesThatAreWrittenInPartLoseNothing) {
  const std::int64_t longest = 6000;
  std::int64_t limits = 0;
  for (std::int64_t limit = 250; limit < longest; limit += 150) {
    SCOPED_TRACE(fmt::format("files of at most {} bytes", limit));
    const fs::path folder = tiny_.folder(fmt::format("limit-{}", limit));
    std::vector<std::string> words = {fmt::format("--fsize={}", limit), BOOLGRAD_CLI};
    for (const std::string& word : tiny_.arguments(folder)) words.push_back(word);
    const CliResult result = run_cli(words, "", "/usr/bin/prlimit");
    tiny_.expect_report(result, folder, "cannot write .*: File too large$");
    ++limits;
    if (fs::exists(folder)) tiny_.expect_recovery(folder);
  }
  RecordProperty("limits", std::to_string(limits));
}

// The name of a file appears only after its content is on the disk, and the directory follows.
TEST_F(SystemCallFaults, ContentIsSyncedBeforeItsNameAndThenTheDirectory) {
  const ScratchFolder scratch;
  const std::string trace = (scratch / "trace").string();
  const fs::path folder = tiny_.folder("ordered");
  std::vector<std::string> words = {
      "-f", "-qq", "-y", "-o", trace, "-e", "trace=write,rename,fsync", BOOLGRAD_CLI};
  for (const std::string& word : tiny_.arguments(folder)) words.push_back(word);
  ASSERT_EQ(run_cli(words, "", "/usr/bin/strace").code, 0);
  std::vector<std::string> lines;
  std::istringstream text(read_bytes(trace));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  const std::regex rename(R"(rename\("([^"]+)\.\d+\.\d+\.tmp", "([^"]+)\"\) = 0)");
  std::int64_t renamed = 0;
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
    std::smatch found;
    if (!std::regex_search(lines[i], found, rename)) continue;
    ++renamed;
    EXPECT_EQ(found[1], found[2]);
    const std::string name = found[2];
    EXPECT_TRUE(std::regex_search(lines[i - 1], std::regex(R"(fsync\(\d+<.*\.tmp>\) += 0)")))
        << lines[i - 1];
    EXPECT_NE(lines[i - 1].find(name + "."), std::string::npos) << lines[i - 1];
    const std::string directory = fmt::format("<{}>) ", fs::path(name).parent_path().string());
    EXPECT_NE(lines[i + 1].find("fsync("), std::string::npos) << lines[i + 1];
    EXPECT_NE(lines[i + 1].find(directory), std::string::npos) << lines[i + 1];
  }
  EXPECT_GE(renamed, 4);  // settings, two checkpoints and the model at least
}

}  // namespace
}  // namespace boolgrad
