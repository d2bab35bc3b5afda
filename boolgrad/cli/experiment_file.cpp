#include "boolgrad/cli/experiment_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

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

namespace {

/// The comment at the top of a file, on one line.
std::string description_in(const fs::path& file) {
  std::ifstream text(file);
  std::string description;
  for (std::string line; std::getline(text, line) && line.starts_with("# ");) {
    if (!description.empty()) description += ' ';
    description += line.substr(2);
  }
  return description;
}

}  // namespace

std::string built_in_list() {
  std::size_t width = 0;
  const std::vector<fs::path> files = shipped_files("experiments", ".toml");
  for (const fs::path& file : files) width = std::max(width, file.stem().string().size());
  std::string list;
  for (const fs::path& file : files) {
    list += fmt::format("{:<{}}  {}\n", file.stem().string(), width, description_in(file));
  }
  return list;
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
