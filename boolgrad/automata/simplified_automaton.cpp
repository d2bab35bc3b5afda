#include "boolgrad/automata/simplified_automaton.h"

#include "boolgrad/automata/rule_netlist.h"
#include "boolgrad/circuit/convert.h"
#include "boolgrad/circuit/passes/passes.h"

namespace boolgrad {

BitAutomaton simplified_automaton(const Rule& rule) {
  return BitAutomaton(rule, bit_circuit_of(simplified(netlist_of(rule))));
}

}  // namespace boolgrad
