// What a sweep keeps in its folder: its description, the list of its runs, and their results.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "boolgrad/train/sweep/sweep.h"

namespace boolgrad::train {

/// Throws if the folder belongs to another sweep or to a run.
void check_sweep_folder(const Sweep& sweep, const std::filesystem::path& folder);

/// Writes the description of a sweep, unless it is there.
void describe_sweep(const Sweep& sweep, const std::filesystem::path& folder);

/// Writes the result of a run into its folder, or why it failed.
void save_result(const std::filesystem::path& run_folder, const SweepResult& result);
void save_failure(const std::filesystem::path& run_folder, const std::string& error);

/// None if the file is missing or incomplete. The run is then finished again from its checkpoint.
std::optional<SweepResult> load_result(const std::filesystem::path& run_folder);
/// Empty if the run has not failed.
std::string load_failure(const std::filesystem::path& run_folder);

}  // namespace boolgrad::train
