// Hardened rules, run on bits after all passes.
#pragma once

#include "boolgrad/automata/bit_automaton.h"
#include "boolgrad/automata/rule.h"

namespace boolgrad {

/// Steps grids as `BitAutomaton(rule)` does, with what all passes of `simplified` leave of the
/// rule: they take a fraction of a second and leave a small part of the operations.
BitAutomaton simplified_automaton(const Rule& rule);

}  // namespace boolgrad
