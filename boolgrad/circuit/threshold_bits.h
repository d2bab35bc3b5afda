// The bits that features can have behind thresholds: a feature that exceeds a threshold exceeds the
// lower ones of the same feature too.
#pragma once

#include <vector>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/logic/thresholds.h"

namespace boolgrad::circuit {

/// The circuit behind bits that features can have. Every combination of inputs gives such bits, and
/// all of them occur, so that two circuits are equal for all features if and only if these are
/// equal for all inputs. Its gates are those that make the bits, then those of `netlist`.
Netlist behind_thresholds(const Netlist& netlist, const logic::Thresholds& thresholds);

/// The bits that the inputs of `behind_thresholds` give.
std::vector<bool> possible_bits(std::vector<bool> inputs, const logic::Thresholds& thresholds);

}  // namespace boolgrad::circuit
