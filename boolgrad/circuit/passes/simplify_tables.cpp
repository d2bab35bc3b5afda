#include "boolgrad/circuit/passes/simplify_tables.h"

#include <algorithm>

#include "boolgrad/circuit/passes/mapping.h"

namespace boolgrad::circuit {
Netlist with_own_tables(const Netlist& netlist, SimplifyParams params) {
  params.keeps_tables = true;
  return simplify(netlist, params);
}

Netlist simplify_tables(const Netlist& netlist, const SimplifyParams& params) {
  Netlist tables = with_own_tables(netlist, params);
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

Netlist cover_with_lut6(const Netlist& netlist, const Netlist& gates) {
  Netlist tables = with_own_tables(netlist);
  Netlist covered = map_to_luts(gates, {.inputs = 6, .keeps_depth = false});
  return gate_count(covered) < gate_count(tables) ? covered : tables;
}

}  // namespace boolgrad::circuit
