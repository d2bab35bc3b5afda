#include "boolgrad/circuit/passes/passes.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "boolgrad/circuit/builder.h"
#include "boolgrad/circuit/convert.h"
#include "boolgrad/circuit/passes/rebuilding.h"
#include "boolgrad/core/error.h"

namespace boolgrad {
namespace {

struct Size {
  std::int64_t gates = 0;
  std::int64_t depth = 0;
};

Size size_of(const Netlist& netlist) { return {gate_count(netlist), depth(netlist)}; }
/// Of the netlist that a circuit becomes.
Size size_of(const BitCircuit& circuit) {
  return {netlist_gate_count(circuit), netlist_depth(circuit)};
}

PassStats stats_of(std::string_view pass, const Size& before, const Size& after) {
  return {std::string(pass), before.gates, after.gates, before.depth, after.depth, false};
}

/// Fills in what a pass did.
Netlist recorded(std::string_view pass, const Netlist& before, Netlist after, PassStats* stats) {
  if (stats != nullptr) *stats = stats_of(pass, size_of(before), size_of(after));
  return after;
}

/// A table of plain literals as a key.
NetlistGate key_of(const TableGate& table) {
  NetlistGate key{.truth = table.truth, .arity = static_cast<std::uint8_t>(table.inputs.size())};
  std::ranges::transform(table.inputs, key.inputs.begin(), &BitLiteral::node);
  return key;
}

struct GateHash {
  std::size_t operator()(const NetlistGate& gate) const {
    constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;
    std::uint64_t hash = gate.truth * golden;
    for (const Net net : gate.sources()) hash = ((hash >> 29) ^ hash ^ net) * golden;
    return hash ^ (hash >> 32);
  }
};

/// Picks the pass on circuits among overloads.
template <class Params>
auto as_pass(BitCircuit (*pass)(const BitCircuit&, const Params&)) {
  return pass;
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
  std::unordered_map<NetlistGate, BitLiteral, GateHash> known;
  known.reserve(netlist.gates.size());
  Netlist result = remade(netlist, [&](NetlistBuilder& builder, TableGate table, std::size_t) {
    table = canonical(std::move(table));
    const bool complemented = std::exchange(table.complemented, false);
    if (table.inputs.empty()) return BitLiteral(0, complemented);
    if (table.inputs.size() == 1) return table.inputs[0] ^ complemented;
    const auto [entry, added] = known.try_emplace(key_of(table));
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
  const auto record = [&](PassStats own) {
    if (stats != nullptr) stats->push_back(std::move(own));
  };
  Netlist tables = netlist;
  for (const auto& pass : {constants_propagated, inputs_removed, wires_absorbed, equal_gates_merged,
                           unreachable_removed}) {
    PassStats own;
    tables = pass(tables, stats != nullptr ? &own : nullptr);
    record(std::move(own));
  }
  if (params.keeps_tables) return tables;
  BitCircuit circuit = compacted(bit_circuit_of(tables));
  Size size = size_of(circuit);
  record(stats_of("two inputs", size_of(tables), size));
  const auto apply = [&](std::string_view name, const auto& pass, const auto& how) {
    circuit = pass(circuit, how);
    const Size before = std::exchange(size, size_of(circuit));
    record(stats_of(name, before, size));
  };
  for (int turn = 0; turn < params.max_turns; ++turn) {
    const std::int64_t before = size.gates;
    apply("resubstitution", as_pass<ResubstitutionParams>(resubstituted), params.resubstitution);
    apply("observability", as_pass<ObservabilityParams>(observed_only), params.observability);
    apply("rewriting", as_pass<RewritingParams>(cuts_rewritten), params.rewriting);
    // What rewriting had no time to finish it will not finish in another turn either.
    const bool is_large = params.rewriting.rounds_for(size.gates) < params.rewriting.max_rounds;
    if (size.gates >= before || is_large) break;
  }
  return netlist_of(circuit, netlist);
}

}  // namespace boolgrad
