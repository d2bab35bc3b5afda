// Netlists as C.
#pragma once

#include <string>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad {

/// A header of C99 that needs nothing but <stddef.h> and <stdint.h>. For a netlist called NAME:
///
/// - `NAME_INPUTS`, `NAME_OUTPUTS`, and `void NAME_eval(const uint64_t *in, uint64_t *out)`: a word
///   an input and an output, a bit of each a sample, so 64 at a time.
/// - for the rule of an automaton also `NAME_CHANNELS` and `NAME_step`, which steps a grid packed
///   as [channel][row][word], 64 cells of a row a word, on all cells or on those that fire.
std::string to_c99(const Netlist& netlist);

}  // namespace boolgrad
