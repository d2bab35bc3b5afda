// Group sums, thresholds and argmax as gates, for what has to be one circuit: files for hardware
// and software.
#pragma once

#include <cstdint>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad {

// In all of these the outputs of a netlist are taken in their order in groups of the same size, one
// a class; their number must be a multiple of the number of classes. Inputs and gates stay as they
// are; outputs become others. A netlist that is the rule of an automaton is refused.

/// Outputs how many outputs of each class are 1: `sum3_0` is the lowest binary digit of the sum of
/// class 3. Sums have as many digits as the size of a group. A tree of full adders, two tables of
/// three inputs each.
Netlist with_group_sums(const Netlist& netlist, std::int64_t classes);

/// Outputs `above3`, which is 1 where at least `least` outputs of class 3 are.
Netlist with_thresholds(const Netlist& netlist, std::int64_t classes, std::int64_t least);

/// Outputs the class of the largest sum, of equal ones the first: `class_0` is its lowest binary
/// digit. One class has no digits, so there must be at least two.
Netlist with_argmax(const Netlist& netlist, std::int64_t classes);

}  // namespace boolgrad
