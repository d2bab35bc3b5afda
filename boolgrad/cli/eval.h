// What the kinds of `boolgrad eval` share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "boolgrad/cli/command.h"
#include "boolgrad/model/model.h"

#include "boolgrad/backend/device/device.h"

namespace boolgrad::cli {

struct EvalArguments {
  std::string model;
  std::optional<std::int64_t> grids;  ///< fresh starts a scenario, of automata
  std::string data;        ///< other samples for a classifier; empty for the experiment's own
  std::string confusion;   ///< where to draw who was taken for whom; empty for beside the model
  bool compiled = false;   ///< whether to compile the C of a classifier and run it too
  bool simulated = false;  ///< whether to simulate its Verilog
  bool simplifies = true;  ///< whether to count the gates that are left of a classifier
  Device device = {};
};

/// Judges an automaton, which has an experiment, and prints how it fares.
void eval_automaton(const EvalArguments& arguments, const LoadedModel& loaded,
                    const CommonOptions& common);

/// Judges a classifier, which has an experiment, on its test.
void eval_classifier(const EvalArguments& arguments, const LoadedModel& loaded,
                     const CommonOptions& common);

}  // namespace boolgrad::cli
