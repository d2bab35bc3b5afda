// Experiments by name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace boolgrad::cli {

/// The names of the built-in experiments.
std::vector<std::string> built_in_names();

/// The names of the built-in experiments with what their files say of them, one per line.
std::string built_in_list();

/// The file of an experiment, given by its path or by the name of a built-in one. Throws if there
/// is none; the message starts with `command`.
std::filesystem::path experiment_file(const std::string& command, const std::string& given);

}  // namespace boolgrad::cli
