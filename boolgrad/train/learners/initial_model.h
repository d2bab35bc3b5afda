// The initial network or rule of an experiment, and its knockout.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/automata/rule.h"
#include "boolgrad/logic/convolution.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad::train {

/// What the inputs of a network are, if they are the bits of images.
struct ImageInputs {
  std::vector<logic::ImagePosition> positions = {};  ///< of the inputs, for wires from a window
  logic::ImageSize size = {};                        ///< for convolutions
};

/// The initial network, with wires and logits from the experiment's seed.
logic::Network make_network(const Experiment& experiment, std::int64_t inputs, std::int64_t outputs,
                            const ImageInputs& images = {});

/// The same for an automaton.
automata::Rule make_rule(const Experiment& experiment);

/// Sets the masks of the experiment's knockout. Idempotent.
void knock_out(const Experiment& experiment, logic::Network& network);

}  // namespace boolgrad::train
