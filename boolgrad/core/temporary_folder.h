// A folder for the files of other programs, which is removed again; and the search for programs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace boolgrad {

/// A new folder that the destructor removes with its content.
class TemporaryFolder {
 public:
  /// Errors start with `[where]`.
  explicit TemporaryFolder(std::string_view where);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The first executable of this name in the folders of PATH.
std::optional<std::filesystem::path> find_program(const std::string& name);

}  // namespace boolgrad
