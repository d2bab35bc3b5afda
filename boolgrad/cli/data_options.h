// The options of commands that train on samples of the user's own.
#pragma once

#include <CLI/CLI.hpp>

#include "boolgrad/train/experiment/changes.h"

namespace boolgrad::cli {

/// Adds `--data`, `--target`, `--no-header`, `--missing` and `--encoding`.
void add_data_options(CLI::App& command, train::ExperimentChanges& changes);

/// Throws for options of samples or targets that this kind of experiment does not use. `where` is
/// the command.
void check_data_options(std::string_view where, const train::ExperimentChanges& changes,
                        const train::Experiment& experiment);

}  // namespace boolgrad::cli
