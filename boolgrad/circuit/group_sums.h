// Classifier heads as gates: group sums, thresholds and argmax, so that an exported circuit is
// complete.
#pragma once

#include <cstdint>
#include <span>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/logic/gate_arithmetic.h"

namespace boolgrad::circuit {

// All functions split the outputs of a netlist into consecutive groups of equal size, one group per
// class. The number of outputs must be a multiple of the number of classes. Inputs and gates are
// kept; the outputs are replaced. The rule of an automaton throws. With exponents, output i counts
// 2^exponents[i] times.
// `adders` are the gates of the sums.

/// Replaces the outputs by the number of ones per class: `sum3_0` is the least significant digit of
/// the sum of class 3. Every sum has as many digits as its largest value needs.
Netlist with_group_sums(const Netlist& netlist, std::int64_t classes,
                        std::span<const std::int32_t> exponents = {},
                        logic::AdderGates adders = logic::AdderGates::tables);

/// Replaces the outputs by one bit per class: `above3` is 1 where at least `least` outputs of class
/// 3 are 1.
Netlist with_thresholds(const Netlist& netlist, std::int64_t classes, std::int64_t least);

/// Replaces the outputs by the number whose bit i, `class_i`, is 1 where the sum of group i is more
/// than half of its largest value. Numbers of `classes` and more become `classes` - 1.
Netlist with_votes(const Netlist& netlist, std::int64_t groups, std::int64_t classes,
                   std::span<const std::int32_t> exponents = {},
                   logic::AdderGates adders = logic::AdderGates::tables);

/// Replaces the outputs by the class with the largest sum, the first one on a tie: `class_0` is its
/// least significant digit. Requires at least two classes.
Netlist with_argmax(const Netlist& netlist, std::int64_t classes,
                    std::span<const std::int32_t> exponents = {},
                    logic::AdderGates adders = logic::AdderGates::tables);

}  // namespace boolgrad::circuit
