#include "boolgrad/circuit/passes/smallest_form.h"

#include <algorithm>

#include "boolgrad/circuit/passes/mapping.h"

namespace boolgrad {

Netlist smallest_form(const Netlist& netlist, const SimplifyParams& params) {
  SimplifyParams own_tables = params;
  own_tables.keeps_tables = true;
  Netlist tables = simplified(netlist, own_tables);
  Netlist gates = simplified(netlist, params);
  if (gate_count(gates) <= gate_count(tables)) return gates;
  MappingParams mapping{.keeps_depth = false};
  mapping.inputs = 2;
  for (const NetlistGate& gate : tables.gates) {
    mapping.inputs = std::max(mapping.inputs, static_cast<int>(gate.arity));
  }
  Netlist covered = mapped(gates, mapping);
  return gate_count(covered) < gate_count(tables) ? covered : tables;
}

}  // namespace boolgrad
