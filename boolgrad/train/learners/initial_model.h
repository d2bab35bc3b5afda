// The network or rule that training starts from, and the damage that a knockout does to it.
#pragma once

#include "boolgrad/automata/rule.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad {

/// The network that `experiment` starts from: wired and initialised from its seed.
LogicNetwork make_network(const Experiment& experiment, std::int64_t inputs, std::int64_t outputs);

/// The same for an automaton.
Rule make_rule(const Experiment& experiment);

/// Sets the masks of the experiment's knockout. Doing so twice changes nothing.
void knock_out(const Experiment& experiment, LogicNetwork& network);

}  // namespace boolgrad
