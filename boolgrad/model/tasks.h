// What a specification describes, made: the cases of a circuit, the target of an automaton.
#pragma once

#include "boolgrad/automata/rollout.h"
#include "boolgrad/data/automaton_task.h"
#include "boolgrad/data/boolean_task.h"
#include "boolgrad/model/spec.h"

namespace boolgrad {

/// The cases of a circuit.
BooleanTask make_task(const ModelSpec& spec);

/// What an automaton is to reach.
AutomatonTask make_automaton_task(const ModelSpec& spec);

/// Grids that an automaton is evaluated on: one where all starts are the same and all cells fire.
std::int64_t probe_count(const AutomatonOptions& options);

/// Starts uint8 [channels, grids, height, width]: the task's own, or drawn at (seed, stream, draw).
Tensor make_starts(const AutomatonTask& task, const AutomatonOptions& options,
                   const RolloutSize& size, std::uint64_t seed, std::uint32_t stream,
                   std::uint32_t draw);

/// Whether starts are not drawn: those of the task, or the seed.
bool starts_are_fixed(const AutomatonTask& task, const AutomatonOptions& options);

}  // namespace boolgrad
