#include "boolgrad/cli/shipped.h"

#include <algorithm>
#include <system_error>

namespace boolgrad::cli {

namespace fs = std::filesystem;

fs::path shipped_folder(std::string_view folder) {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path installed = program.parent_path() / BOOLGRAD_INSTALLED_DATA / folder;
  if (fs::is_directory(installed, ignored)) return installed.lexically_normal();
  return (program.parent_path() / BOOLGRAD_SOURCES_FROM_BUILD / folder).lexically_normal();
}

std::vector<fs::path> shipped_files(std::string_view folder, std::string_view extension) {
  std::error_code ignored;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(shipped_folder(folder), ignored)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace boolgrad::cli
