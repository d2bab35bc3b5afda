#include "boolgrad/automata/simplified_automaton.h"

#include "boolgrad/automata/rule_netlist.h"
#include "boolgrad/circuit/convert.h"
#include "boolgrad/circuit/passes/passes.h"

namespace boolgrad::automata {

BitAutomaton simplified_automaton(const Rule& rule) {
  return BitAutomaton(rule, circuit::to_bit_circuit(circuit::simplify(harden(rule))));
}

}  // namespace boolgrad::automata
