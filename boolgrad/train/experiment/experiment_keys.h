// The keys of an experiment, and which experiments use them. Internal: includes toml++.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/model/keys.h"
#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad::train {

using ExperimentKey = SpecKey<Experiment>;

/// All keys, top-level ones first and sections together.
const std::vector<ExperimentKey>& experiment_key_table();

/// Which experiments use a key.
struct KeyUse {
  std::string_view path;  ///< a key, or a section: `curriculum.`
  bool circuit = true;
  bool automaton = true;
  bool classifier = true;
  std::string_view needs = {};  ///< other settings it needs, as text: `hardening.kind = noise`
  bool (*is_met)(const Experiment&) = nullptr;
};

/// The entry of a key or, if it has none, of its section.
const KeyUse& use_of(std::string_view path);

/// The reason why `path` has no effect in `experiment`; nothing if it has an effect. `by_family` is
/// true if only other kinds of experiments use it.
struct NoEffect {
  std::string reason;
  bool by_family = false;
};
std::optional<NoEffect> no_effect(const Experiment& experiment, std::string_view path);

}  // namespace boolgrad::train
