// Runs the program and captures its output.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/scratch.h"

namespace boolgrad::testing_support {

struct CliResult {
  int code = -1;  ///< exit code, or 128 + the signal
  std::string out;
  std::string err;

  /// The object on the last line of standard output.
  nlohmann::json json() const {
    const std::string text = out.substr(0, out.find_last_not_of('\n') + 1);
    return nlohmann::json::parse(text.substr(text.rfind('\n') + 1), nullptr, false);
  }

  /// The error message: one line after `boolgrad: `, or all of standard error if it has another
  /// format.
  std::string complaint() const {
    const std::string opening = "boolgrad: ";
    const bool one_line = err.find('\n') == err.size() - 1;
    if (!err.starts_with(opening) || !one_line) return "not one complaint: " + err;
    return err.substr(opening.size(), err.size() - opening.size() - 1);
  }
};

/// Waits for a process to end.
inline int wait_for(pid_t process) {
  int status = 0;
  if (waitpid(process, &status, 0) != process) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Runs `boolgrad arguments...`. Redirects standard output to `out_path` if it is given.
inline CliResult run_cli(const std::vector<std::string>& arguments, std::string out_path = "",
                         const std::string& program = BOOLGRAD_CLI) {
  const ScratchFolder scratch;
  const std::string kept = (scratch / "out").string();
  const std::string complaints = (scratch / "err").string();
  const bool keep = out_path.empty();
  if (keep) out_path = kept;

  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out_path.c_str(), flags, 0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, complaints.c_str(), flags, 0600);
  pid_t process = 0;
  const int error = posix_spawn(&process, argv[0], &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) {
    ADD_FAILURE() << "cannot run " << program;
    return {};
  }
  CliResult result;
  result.code = wait_for(process);
  if (keep) result.out = read_bytes(kept);
  result.err = read_bytes(complaints);
  return result;
}

}  // namespace boolgrad::testing_support
