#include "boolgrad/circuit/passes/simplify_tables.h"

#include <algorithm>

#include "boolgrad/circuit/passes/mapping.h"

namespace boolgrad::circuit {

Netlist simplify_tables(const Netlist& netlist, const SimplifyParams& params) {
  SimplifyParams own_tables = params;
  own_tables.keeps_tables = true;
  Netlist tables = simplify(netlist, own_tables);
  Netlist gates = simplify(netlist, params);
  if (gate_count(gates) <= gate_count(tables)) return gates;
  MappingParams mapping{.keeps_depth = false};
  mapping.inputs = 2;
  for (const NetlistGate& gate : tables.gates) {
    mapping.inputs = std::max(mapping.inputs, static_cast<int>(gate.arity));
  }
  Netlist covered = map_to_luts(gates, mapping);
  return gate_count(covered) < gate_count(tables) ? covered : tables;
}

}  // namespace boolgrad::circuit
