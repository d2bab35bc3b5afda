// The initial network or rule of an experiment, and its knockout.
#pragma once

#include <cstdint>
#include <span>

#include "boolgrad/automata/rule.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad::train {

/// The initial network, with wires and logits from the experiment's seed. `positions` are those of
/// the inputs in images, for wires from a window.
logic::Network make_network(const Experiment& experiment, std::int64_t inputs, std::int64_t outputs,
                            std::span<const logic::ImagePosition> positions = {});

/// The same for an automaton.
automata::Rule make_rule(const Experiment& experiment);

/// Sets the masks of the experiment's knockout. Idempotent.
void knock_out(const Experiment& experiment, logic::Network& network);

}  // namespace boolgrad::train
