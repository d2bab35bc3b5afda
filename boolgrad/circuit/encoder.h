// The thresholds of features as gates, to count what a circuit needs in front of it.
#pragma once

#include <cstdint>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/logic/thresholds.h"

namespace boolgrad::circuit {

/// The integer n for which x > threshold is x > n, for every byte x: -1 if it always holds, 255 if
/// it never does.
int byte_threshold(float threshold);

/// The comparators of bytes with constants that a circuit needs: those of the bits of `thresholds`,
/// its inputs, that an output depends on. Inputs are the digits of features, `x3_0` the least
/// significant one of feature 3. There is one output per different comparison: bits of one feature
/// with the same `byte_threshold` share it.
Netlist byte_encoder(const logic::Thresholds& thresholds, const Netlist& circuit);

/// The bits of a float as an integer with the same order. -0 is the same as 0.
std::uint32_t ordered_key(float value);

/// The same for features that are IEEE 754 floats of 32 digits, `x3_31` the sign of feature 3. They
/// are compared by `ordered_key`.
Netlist float_encoder(const logic::Thresholds& thresholds, const Netlist& circuit);

}  // namespace boolgrad::circuit
