// Gates as text in which C and Verilog agree.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad {

/// The constants as a language writes them.
struct InfixConstants {
  std::string zero;
  std::string one;
};

/// What a gate computes, of &, |, ^ and ~ with every operation in parentheses. `name_of` gives the
/// text of a net.
std::string infix_formula(const NetlistGate& gate, const InfixConstants& constants,
                          const std::function<std::string(Net)>& name_of);

/// For every gate whether an output reads it, through inputs that change what a gate gives: the
/// gates that formulas mention.
std::vector<bool> reachable_gates(const Netlist& netlist);

}  // namespace boolgrad
