// Creates the task that a specification describes.
#pragma once

#include "boolgrad/automata/rollout.h"
#include "boolgrad/data/automaton_task.h"
#include "boolgrad/data/boolean_task.h"
#include "boolgrad/data/pattern.h"
#include "boolgrad/model/spec.h"

namespace boolgrad {

/// The truth table that a circuit learns.
data::BooleanTask make_task(const ModelSpec& spec);

/// The rule that an automaton learns: of `life`, or the one that is named or seen in examples.
/// Throws for other tasks, and if there is neither a name nor a file.
data::CellRule cell_rule_of(const ModelSpec& spec);

/// The pattern that an automaton grows, on its grid. Throws for rules.
data::Pattern pattern_of(const ModelSpec& spec);

/// The target state of an automaton.
data::AutomatonTask make_automaton_task(const ModelSpec& spec);

/// Number of grids that an automaton is evaluated on. One is enough if all starts are equal and all
/// cells fire.
std::int64_t evaluation_start_count(const AutomatonOptions& options);

/// Starts, uint8 [channels, grids, height, width]: those of the task, or random ones sampled at
/// (seed, stream, draw).
Tensor make_starts(const data::AutomatonTask& task, const AutomatonOptions& options,
                   const automata::RolloutSize& size, std::uint64_t seed, std::uint32_t stream,
                   std::uint32_t draw);

/// Whether starts are fixed: given by the task, or all grown from a seed.
bool starts_are_fixed(const data::AutomatonTask& task, const AutomatonOptions& options);

}  // namespace boolgrad
