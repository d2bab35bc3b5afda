// Bit-parallel simulation of simplified rules.
#pragma once

#include "boolgrad/automata/bit_automaton.h"
#include "boolgrad/automata/rule.h"

namespace boolgrad::automata {

/// `BitAutomaton(rule)` after all passes of `simplify`. They take a fraction of a second and remove
/// most operations.
BitAutomaton simplified_automaton(const Rule& rule);

}  // namespace boolgrad::automata
