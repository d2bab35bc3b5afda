// What an experiment describes, made: the task, and the network or rule that is to learn it.
#pragma once

#include "boolgrad/automata/rollout.h"
#include "boolgrad/automata/rule.h"
#include "boolgrad/data/automaton_task.h"
#include "boolgrad/data/boolean_task.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad {

/// The cases that `experiment` trains on.
BooleanTask make_task(const Experiment& experiment);

/// The network that `experiment` starts from: wired and initialised from its seed.
LogicNetwork make_network(const Experiment& experiment, std::int64_t inputs, std::int64_t outputs);
LogicNetwork make_network(const Experiment& experiment, const BooleanTask& task);

/// The same for an automaton: its task and the rule that it starts from.
AutomatonTask make_automaton_task(const Experiment& experiment);
Rule make_rule(const Experiment& experiment);

/// Fresh starts that an automaton is judged by: one where all starts are the same and all cells
/// fire.
std::int64_t probe_count(const AutomatonOptions& options);

/// Starts uint8 [channels, grids, height, width]: the task's own, or drawn at (seed, stream, draw).
Tensor make_starts(const AutomatonTask& task, const AutomatonOptions& options,
                   const RolloutSize& size, std::uint64_t seed, std::uint32_t stream,
                   std::uint32_t draw);

/// The training loss, summed over outputs and samples.
Tensor loss_of(const TrainingOptions& training, const Tensor& y, const Tensor& target);

/// Sets the masks of the experiment's knockout. Doing so twice changes nothing.
void knock_out(const Experiment& experiment, LogicNetwork& network);

/// Gates and inputs that are switched off.
std::int64_t masked_count(const LogicNetwork& network);

}  // namespace boolgrad
