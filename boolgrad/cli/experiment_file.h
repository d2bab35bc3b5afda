// Experiments by name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace boolgrad::cli {

/// The names of the built-in ones.
std::vector<std::string> built_in_names();

/// The file of an experiment that is given by its path or by the name of a built-in one. Complains
/// in the name of `command` where there is none.
std::filesystem::path experiment_file(const std::string& command, const std::string& given);

}  // namespace boolgrad::cli
