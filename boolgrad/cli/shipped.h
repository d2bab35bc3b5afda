// Files that ship with the program: reference values and built-in experiments.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace boolgrad::cli {

/// Where `folder` (`goldens`, `experiments`) lies: beside an installed program, or else in the
/// source tree it was built from.
std::filesystem::path shipped_folder(std::string_view folder);

/// The files in it with this extension, sorted.
std::vector<std::filesystem::path> shipped_files(std::string_view folder,
                                                 std::string_view extension);

}  // namespace boolgrad::cli
