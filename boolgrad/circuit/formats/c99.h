// C99 export.
#pragma once

#include <string>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/circuit/shared_circuit.h"

namespace boolgrad::circuit {

/// A C99 header that includes only <stddef.h> and <stdint.h>. For a netlist called NAME it has:
///
/// - `NAME_INPUTS`, `NAME_OUTPUTS`, and `void NAME_eval(const uint64_t *in, uint64_t *out)`, which
///   evaluates 64 samples at a time: one word per input and output, one bit per sample;
/// - for the rule of an automaton also `NAME_CHANNELS` and `NAME_step`, which updates all cells of
/// a
///   grid, or those that fire. The grid is packed as [channel][row][word] with 64 cells per word.
std::string to_c(const Netlist& netlist);

/// The same, with one function per kernel, which is called in a loop over positions. The results of
/// the two largest stages are on the stack: 8 bytes per bit.
std::string to_c(const SharedCircuit& circuit);

}  // namespace boolgrad::circuit
