// Netlists as stacks of layers, the shape of networks that can be trained.
#pragma once

#include <cstddef>
#include <vector>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad::circuit {

/// The gates of one layer. Their `inputs` are positions in the layer before; those of the first
/// layer are inputs of the netlist.
using LayerGates = std::vector<NetlistGate>;

/// The netlist as layers that read only the one before. A gate is in the layer of its level: the
/// number of gates on the longest path to it. Gates that pass their input through carry values to
/// the layers that read them. The last layer has one gate per output, so a gate that drives several
/// of them is repeated there. With more than so many layers, the last ones pass the outputs
/// through.
///
/// Tables stay as they are, except that constants are folded into the gates that read them. Gates
/// that no output depends on are left out. Throws if the layers would have more than 2^24 gates.
std::vector<LayerGates> layers_of(const Netlist& netlist, std::size_t min_layers = 1);

}  // namespace boolgrad::circuit
