// What the kinds of `boolgrad eval` share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "boolgrad/cli/command.h"
#include "boolgrad/train/checkpoint.h"

namespace boolgrad::cli {

struct EvalArguments {
  std::string model;
  std::optional<std::int64_t> grids;  ///< fresh starts a scenario, of automata
  std::string device = "cpu";
};

/// Judges an automaton, which has an experiment, and prints how it fares.
void eval_automaton(const EvalArguments& arguments, const Model& model,
                    const CommonOptions& common);

}  // namespace boolgrad::cli
