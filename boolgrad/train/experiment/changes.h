// Changes of an experiment that `boolgrad train` and Python offer by name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad::train {

/// What to change. Empty strings and absent values change nothing.
struct ExperimentChanges {
  std::optional<std::int64_t> seed = {};
  std::optional<std::int64_t> steps = {};
  std::optional<std::int64_t> epochs = {};
  std::optional<double> knockout = {};      ///< share of the hidden gates to mask half-way
  std::string data = {};                    ///< folder or file of samples
  std::string target = {};                  ///< picture, bitmap or column
  std::string rule = {};                    ///< name or truth table of a cellular automaton
  std::string examples = {};                ///< successive states of a cellular automaton
  std::string init = {};                    ///< circuit that the network starts from
  std::string memory = {};                  ///< limit of the backward pass of an automaton
  bool no_header = false;                   ///< a CSV file has no names of columns
  std::string missing = {};                 ///< what to do with missing values of a CSV file
  std::string encoding = {};                ///< of a CSV file
  std::vector<std::string> overrides = {};  ///< `key=value`
  /// The circuit of a checkpoint, used in place of the file that its experiment names.
  std::shared_ptr<const InitialCircuit> circuit = {};
};

/// The changes as `key=value` overrides of this experiment. Those given by name come last, except
/// for the target, so that its grid can be overridden.
std::vector<std::string> overrides_of(const ExperimentChanges& changes,
                                      const Experiment& experiment);

/// Reads an experiment from TOML, changed. `notices` receives a line for every key that has no
/// effect and for every old name of a key.
Experiment changed_experiment(const std::filesystem::path& path, const ExperimentChanges& changes,
                              std::vector<std::string>* notices = nullptr);

/// The same from a text. Error messages start with `source`; relative paths are relative to
/// `folder`. `notices` receives a line for what the data or the initial circuit decides.
Experiment changed_experiment(const std::string& text, const std::string& source,
                              const std::string& name, const std::filesystem::path& folder,
                              const ExperimentChanges& changes,
                              std::vector<std::string>* notices = nullptr);

}  // namespace boolgrad::train
