// External programs that check exported files: compilers, simulators, synthesis.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>

namespace boolgrad::testing_support {

struct ToolResult {
  int code = -1;
  std::string output;  ///< standard output and errors
};

/// Runs a shell command.
inline ToolResult run_tool(const std::string& command) {
  ToolResult result;
  FILE* pipe = popen(("{ " + command + "; } 2>&1").c_str(), "r");
  if (pipe == nullptr) return result;
  std::array<char, 4096> part{};
  for (std::size_t count = 0; (count = fread(part.data(), 1, part.size(), pipe)) > 0;) {
    result.output.append(part.data(), count);
  }
  const int status = pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

/// Fails if a program is missing, and names the package that provides it.
inline void require_tool(const std::string& program, const std::string& package) {
  ASSERT_EQ(run_tool("command -v " + program).code, 0)
      << program << " is missing: make installs Debian's package " << package;
}

}  // namespace boolgrad::testing_support
