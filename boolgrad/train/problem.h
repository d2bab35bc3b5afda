// What an experiment describes, made: the task's cases and the network that is to learn them.
#pragma once

#include "boolgrad/data/boolean_task.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/train/experiment.h"

namespace boolgrad {

/// The cases that `experiment` trains on.
BooleanTask make_task(const Experiment& experiment);

/// The network that `experiment` starts from: wired and initialised from its seed.
LogicNetwork make_network(const Experiment& experiment, const BooleanTask& task);

/// The training loss, summed over outputs and samples.
Tensor loss_of(const TrainingOptions& training, const Tensor& y, const Tensor& target);

/// Sets the masks of the experiment's knockout. Doing so twice changes nothing.
void knock_out(const Experiment& experiment, LogicNetwork& network);

/// Gates and inputs that are switched off.
std::int64_t masked_count(const LogicNetwork& network);

}  // namespace boolgrad
