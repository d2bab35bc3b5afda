#include "boolgrad/cli/experiment_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "boolgrad/cli/command.h"
#include "boolgrad/cli/shipped.h"
#include "boolgrad/core/text.h"

namespace boolgrad::cli {

namespace fs = std::filesystem;

std::vector<std::string> built_in_names() {
  std::vector<std::string> names;
  for (const fs::path& file : shipped_files("experiments", ".toml")) {
    names.push_back(file.stem().string());
  }
  return names;
}

fs::path experiment_file(const std::string& command, const std::string& given) {
  if (given.ends_with(".toml") || given.find('/') != std::string::npos) return given;
  const std::vector<std::string> names = built_in_names();
  if (std::ranges::find(names, given) == names.end()) {
    // List all names only if none is similar.
    const std::string nearest = suggestion(given, names);
    const std::string list = nearest.empty() ? fmt::format(" ({})", alternatives(names)) : "";
    throw UsageError(
        fmt::format("[{}] expected a TOML file or a built-in experiment{}, received '{}'{}",
                    command, list, printable(given), nearest));
  }
  return shipped_folder("experiments") / (given + ".toml");
}

}  // namespace boolgrad::cli
