// The folders of runs: which one to take, and what is there.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad::train {

/// The file with the settings of a folder's run, written before anything else.
inline constexpr const char* settings_file = "experiment.toml";

/// `runs/NAME-SEED`, with a name that is fit for a folder.
std::filesystem::path default_run_folder(const Experiment& experiment);

/// Creates the folder if it does not exist. Throws if that fails or if it is not writable.
void make_run_folder(const std::filesystem::path& folder);

/// How the run in `folder` differs from a run of `experiment`: `training.epochs = 5`. Empty text if
/// its settings cannot be read; nothing if there is no other run.
std::optional<std::string> other_run_in(const std::filesystem::path& folder,
                                        const Experiment& experiment);

/// Makes the folder that of a new run of `experiment`: removes what an earlier run has left, and
/// writes the settings. Throws if the earlier run had other settings, unless `overwrite`. Call it
/// only with the folder locked.
void claim_run_folder(const std::filesystem::path& folder, const Experiment& experiment,
                      bool overwrite);

/// Writes the settings of the folder's run.
void write_settings(const std::filesystem::path& folder, const Experiment& experiment);

/// The first of `base`, `base`-2, `base`-3 and so on that has no run with other settings.
std::filesystem::path free_run_folder(const std::filesystem::path& base,
                                      const Experiment& experiment);

/// The first of these whose checkpoint can be continued as `experiment`; `base` if there is none.
std::filesystem::path resumable_run_folder(const std::filesystem::path& base,
                                           const Experiment& experiment);

}  // namespace boolgrad::train
