// Gates as infix expressions that are valid in C and in Verilog.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad::circuit {

/// The constants of the target language.
struct InfixConstants {
  std::string zero;
  std::string one;
};

/// The expression of a gate in &, |, ^ and ~, fully parenthesised. `name_of` gives the text of a
/// net.
std::string infix_formula(const NetlistGate& gate, const InfixConstants& constants,
                          const std::function<std::string(Net)>& name_of);

/// For each gate, whether an output depends on it. Inputs that a table does not depend on do not
/// count, so these are the gates that occur in expressions.
std::vector<bool> reachable_gates(const Netlist& netlist);

}  // namespace boolgrad::circuit
