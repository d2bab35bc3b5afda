#include "boolgrad/circuit/passes/passes.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "boolgrad/circuit/builder.h"
#include "boolgrad/circuit/convert.h"
#include "boolgrad/core/error.h"

namespace boolgrad {
namespace {

/// Fills in what a pass did.
Netlist recorded(std::string_view pass, const Netlist& before, Netlist after, PassStats* stats) {
  if (stats != nullptr) {
    *stats = {std::string(pass), gate_count(before), gate_count(after),
              depth(before),     depth(after),       false};
  }
  return after;
}

TableGate table_of(const NetlistGate& gate, std::span<const BitLiteral> literals) {
  TableGate table{stretched(gate.truth, gate.arity), {}, false};
  for (const Net net : gate.sources()) table.inputs.push_back(literals[net]);
  return table;
}

/// Makes a netlist anew, gate by gate: `remake` adds a gate in the builder or says what else it is.
template <class Remake>
Netlist remade(const Netlist& netlist, const Remake& remake) {
  NetlistBuilder builder(netlist);
  std::vector<BitLiteral> literals;
  for (std::size_t i = 0; i < netlist.inputs.size(); ++i) literals.push_back(builder.input(i));
  for (std::size_t g = 0; g < netlist.gates.size(); ++g) {
    literals.push_back(remake(builder, table_of(netlist.gates[g], literals), g));
  }
  std::vector<BitLiteral> outputs;
  for (const Net net : netlist.output_nets) outputs.push_back(literals[net]);
  return builder.finish(outputs);
}

bool is_constant(const TableGate& table) { return table.truth == 0 || ~table.truth == 0; }

BitLiteral constant_of(const TableGate& table) {
  return BitLiteral(0, (table.truth != 0) != table.complemented);
}

BitLiteral added_unless_constant(NetlistBuilder& builder, const TableGate& table) {
  return is_constant(table) ? constant_of(table) : builder.add(table);
}

}  // namespace

std::int64_t gate_count(const Netlist& netlist) {
  return std::ranges::count_if(netlist.gates,
                               [](const NetlistGate& gate) { return gate.arity > 0; });
}

Netlist constants_propagated(const Netlist& netlist, PassStats* stats) {
  Netlist result = remade(netlist, [](NetlistBuilder& builder, TableGate table, std::size_t) {
    fold_constants(table);
    return added_unless_constant(builder, table);
  });
  return recorded("constants", netlist, std::move(result), stats);
}

Netlist inputs_removed(const Netlist& netlist, PassStats* stats) {
  Netlist result = remade(netlist, [](NetlistBuilder& builder, TableGate table, std::size_t) {
    fold_constants(table);
    fold_repeated(table);
    drop_unneeded(table);
    return added_unless_constant(builder, table);
  });
  return recorded("inputs", netlist, std::move(result), stats);
}

Netlist wires_absorbed(const Netlist& netlist, PassStats* stats) {
  Netlist result = remade(netlist, [](NetlistBuilder& builder, TableGate table, std::size_t) {
    fold_constants(table);
    fold_complements(table);
    fold_repeated(table);
    drop_unneeded(table);
    if (table.inputs.size() == 1) return table.inputs[0] ^ ((table.truth & 1) != 0);
    return added_unless_constant(builder, table);
  });
  return recorded("wires", netlist, std::move(result), stats);
}

Netlist equal_gates_merged(const Netlist& netlist, PassStats* stats) {
  std::map<std::pair<Truth, std::vector<BitLiteral>>, BitLiteral> known;
  Netlist result = remade(netlist, [&](NetlistBuilder& builder, TableGate table, std::size_t) {
    table = canonical(std::move(table));
    const bool complemented = std::exchange(table.complemented, false);
    if (table.inputs.empty()) return BitLiteral(0, complemented);
    if (table.inputs.size() == 1) return table.inputs[0] ^ complemented;
    const auto [entry, added] = known.try_emplace({table.truth, table.inputs});
    if (added) entry->second = builder.add(table);
    return entry->second ^ complemented;
  });
  return recorded("equal gates", netlist, std::move(result), stats);
}

Netlist unreachable_removed(const Netlist& netlist, PassStats* stats) {
  std::vector<bool> reached(netlist.gate(netlist.gates.size()), false);
  for (const Net net : netlist.output_nets) reached[net] = true;
  for (std::size_t g = netlist.gates.size(); g-- > 0;) {
    if (!reached[netlist.gate(g)]) continue;
    for (const Net net : netlist.gates[g].sources()) reached[net] = true;
  }
  Netlist result =
      remade(netlist, [&](NetlistBuilder& builder, const TableGate& table, std::size_t g) {
        return reached[netlist.gate(g)] ? builder.add(table) : BitLiteral(0);
      });
  return recorded("unreachable", netlist, std::move(result), stats);
}

Netlist decomposed(const Netlist& netlist, PassStats* stats) {
  return recorded("two inputs", netlist, netlist_of(bit_circuit_of(netlist), netlist), stats);
}

Netlist resubstituted(const Netlist& netlist, const ResubstitutionParams& params,
                      PassStats* stats) {
  const BitCircuit circuit = resubstituted(bit_circuit_of(netlist), params);
  return recorded("resubstitution", netlist, netlist_of(circuit, netlist), stats);
}

Netlist observed_only(const Netlist& netlist, const ObservabilityParams& params, PassStats* stats) {
  const BitCircuit circuit = observed_only(bit_circuit_of(netlist), params);
  return recorded("observability", netlist, netlist_of(circuit, netlist), stats);
}

Netlist cuts_rewritten(const Netlist& netlist, const RewritingParams& params, PassStats* stats) {
  const BitCircuit circuit = cuts_rewritten(bit_circuit_of(netlist), params);
  return recorded("rewriting", netlist, netlist_of(circuit, netlist), stats);
}

Netlist simplified(const Netlist& netlist, const SimplifyParams& params,
                   std::vector<PassStats>* stats) {
  Netlist result = netlist;
  const auto apply = [&](const auto& pass, const auto&... more) {
    PassStats own;
    result = pass(result, more..., &own);
    if (stats != nullptr) stats->push_back(std::move(own));
  };
  for (const auto& pass : {constants_propagated, inputs_removed, wires_absorbed, equal_gates_merged,
                           unreachable_removed}) {
    apply(pass);
  }
  if (params.keeps_tables) return result;
  apply(decomposed);
  for (int turn = 0; turn < params.most_turns; ++turn) {
    const std::int64_t before = gate_count(result);
    apply([](const Netlist& x, const ResubstitutionParams& how,
             PassStats* own) { return resubstituted(x, how, own); },
          params.resubstitution);
    apply([](const Netlist& x, const ObservabilityParams& how,
             PassStats* own) { return observed_only(x, how, own); },
          params.observability);
    apply([](const Netlist& x, const RewritingParams& how,
             PassStats* own) { return cuts_rewritten(x, how, own); },
          params.rewriting);
    if (gate_count(result) >= before) break;
  }
  return result;
}

}  // namespace boolgrad
