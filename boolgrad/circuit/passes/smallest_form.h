// What a trained netlist is best written as.
#pragma once

#include <vector>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/circuit/passes/passes.h"

namespace boolgrad {

/// The same function in no more gates than the netlist has: gates of two inputs where those are no
/// more than its tables once simplified, else tables, either its own or as many inputs at most anew
/// over the gates of two inputs, whichever are fewer.
Netlist smallest_form(const Netlist& netlist, const SimplifyParams& params = {});

}  // namespace boolgrad
