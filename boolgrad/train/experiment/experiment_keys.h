// The keys of an experiment, and who reads them. Internal: includes toml++.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/model/keys.h"
#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad {

using ExperimentKey = SpecKey<Experiment>;

/// All of them, top-level ones first and sections together.
const std::vector<ExperimentKey>& experiment_key_table();

/// Which experiments read a key.
struct KeyUse {
  std::string_view path;  ///< of a key, or of a section: `curriculum.`
  bool circuit = true;
  bool automaton = true;
  bool classifier = true;
  std::string_view needs = {};  ///< what else it takes, for people: `hardening.kind = noise`
  bool (*is_met)(const Experiment&) = nullptr;
};

/// One row per key or section; the most specific row of a key counts.
const KeyUse& use_of(std::string_view path);

/// Why `path` has no effect in `experiment`: `has no effect on a classifier`; nothing where it has.
/// `by_family` says whether only another kind of experiment would read it.
struct NoEffect {
  std::string reason;
  bool by_family = false;
};
std::optional<NoEffect> no_effect(const Experiment& experiment, std::string_view path);

}  // namespace boolgrad
