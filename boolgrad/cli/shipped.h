// Files shipped with the program: reference values and built-in experiments.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace boolgrad::cli {

/// The location of `folder` (`goldens`, `experiments`, `libraries`): next to an installed program,
/// else in the source tree.
std::filesystem::path shipped_folder(std::string_view folder);

/// The files of a shipped folder with this extension, sorted.
std::vector<std::filesystem::path> shipped_files(std::string_view folder,
                                                 std::string_view extension);

}  // namespace boolgrad::cli
