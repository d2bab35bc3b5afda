// A short training run, and what must hold after it was interrupted.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "boolgrad/core/file.h"
#include "boolgrad/train/run/checkpoint.h"
#include "boolgrad/train/run/run.h"
#include "tests/cli/run_cli.h"

namespace boolgrad::testing_support {

/// Whether the program is sanitized. Sanitizers make system calls and allocations of their own,
/// which would fail as well.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

/// A training run of milliseconds with several log lines and checkpoints.
class TinyRun {
 public:
  TinyRun() {
    write_bytes(experiment_, R"(
[task]
kind = "and"
bits = 2
[network]
hidden = [6]
arity = 2
[training]
steps = 12
log_every = 3
checkpoint_every = 6
stop_when_solved = false
)");
    const CliResult result = run_cli(arguments(reference_));
    EXPECT_EQ(result.code, 0) << result.err;
  }

  /// The arguments that train in a folder.
  std::vector<std::string> arguments(const std::filesystem::path& folder) const {
    return {"train", experiment_.string(), "--quiet", "--threads", "1", "--out", folder.string()};
  }

  /// A folder that does not exist yet.
  std::filesystem::path folder(const std::string& name) const { return scratch_ / name; }

  /// The run continues, or starts again where there is no checkpoint, and ends as if nothing had
  /// happened. What the folder holds before is whole.
  void expect_recovery(const std::filesystem::path& folder) const {
    const std::filesystem::path model = folder / train::model_file;
    const std::filesystem::path checkpoint = folder / train::checkpoint_file;
    if (std::filesystem::exists(model)) expect_reference_model(folder);
    std::vector<std::string> again = arguments(folder);
    if (std::filesystem::exists(checkpoint)) {
      EXPECT_NO_THROW(train::load_checkpoint(checkpoint));
      again.emplace_back("--resume");
    }
    const CliResult result = run_cli(again);
    ASSERT_EQ(result.code, 0) << result.err;
    expect_reference_model(folder);
    EXPECT_EQ(metrics(folder), metrics(reference_));
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      EXPECT_FALSE(is_temporary_name(entry.path().filename().string())) << entry.path();
    }
  }

  /// One line says what failed, and the exit code is 1; or the failure did not matter.
  void expect_report(const CliResult& result, const std::filesystem::path& folder,
                     const std::string& message) const {
    if (result.code == 0) {
      expect_reference_model(folder);
      return;
    }
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(std::regex_search(result.complaint(), std::regex(message))) << result.complaint();
  }

 private:
  void expect_reference_model(const std::filesystem::path& folder) const {
    EXPECT_EQ(read_bytes(folder / train::model_file), read_bytes(reference_ / train::model_file));
  }

  /// The metrics without the time that each line took.
  static std::string metrics(const std::filesystem::path& folder) {
    return std::regex_replace(read_bytes(folder / train::metrics_file),
                              std::regex(R"("seconds":[^,}]*)"), R"("seconds":0)");
  }

  ScratchFolder scratch_;
  std::filesystem::path experiment_ = scratch_ / "tiny.toml";
  std::filesystem::path reference_ = scratch_ / "reference";
};

}  // namespace boolgrad::testing_support
