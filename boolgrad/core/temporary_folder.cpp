#include "boolgrad/core/temporary_folder.h"

#include <stdlib.h>  // mkdtemp is POSIX's, not C++'s
#include <unistd.h>

#include <cstdlib>
#include <system_error>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"

namespace boolgrad {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder(std::string_view where) {
  std::string name = (fs::temp_directory_path() / "boolgrad_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    fail(where, "cannot create the folder {}: {}", name, system_message());
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::optional<fs::path> find_program(const std::string& name) {
  const char* const folders = std::getenv("PATH");
  std::string_view rest = folders != nullptr ? folders : "";
  while (!rest.empty()) {
    const std::size_t end = rest.find(':');
    const fs::path path = fs::path(rest.substr(0, end)) / name;
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0) return path;
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
  return std::nullopt;
}

}  // namespace boolgrad
