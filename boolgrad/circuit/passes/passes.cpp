#include "boolgrad/circuit/passes/passes.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "boolgrad/circuit/builder.h"
#include "boolgrad/circuit/convert.h"
#include "boolgrad/circuit/passes/rebuilding.h"
#include "boolgrad/core/error.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"

namespace boolgrad::circuit {
namespace {

struct Size {
  std::int64_t gates = 0;
  std::int64_t depth = 0;
};

Size size_of(const Netlist& netlist) { return {gate_count(netlist), depth(netlist)}; }
/// The size of `to_netlist(circuit)`.
Size size_of(const BitCircuit& circuit) {
  return {netlist_gate_count(circuit), netlist_depth(circuit)};
}

PassStats stats_of(std::string_view pass, const Size& before, const Size& after) {
  return {std::string(pass), before.gates, after.gates, before.depth, after.depth, false};
}

/// Fills in the statistics of a pass.
Netlist recorded(std::string_view pass, const Netlist& before, Netlist after, PassStats* stats) {
  if (stats != nullptr) *stats = stats_of(pass, size_of(before), size_of(after));
  return after;
}

/// A table of uncomplemented literals as a hash key.
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

/// Selects the overload for circuits.
template <class Params>
auto as_pass(BitCircuit (*pass)(const BitCircuit&, const Params&)) {
  return pass;
}

TableGate table_of(const NetlistGate& gate, std::span<const BitLiteral> literals) {
  TableGate table{stretched(gate.truth, gate.arity), {}, false};
  for (const Net net : gate.sources()) table.inputs.push_back(literals[net]);
  return table;
}

/// Rebuilds a netlist gate by gate. `rebuild_gate` adds a gate to the builder, or returns the
/// literal that replaces it.
template <class RebuildGate>
Netlist rebuilt(const Netlist& netlist, const RebuildGate& rebuild_gate) {
  NetlistBuilder builder(netlist);
  std::vector<BitLiteral> literals;
  for (std::size_t i = 0; i < netlist.inputs.size(); ++i) literals.push_back(builder.input(i));
  for (std::size_t g = 0; g < netlist.gates.size(); ++g) {
    literals.push_back(rebuild_gate(builder, table_of(netlist.gates[g], literals), g));
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

std::vector<bool> reached_nets(const Netlist& netlist) {
  std::vector<bool> reached(netlist.gate(netlist.gates.size()), false);
  for (const Net net : netlist.output_nets) reached[net] = true;
  for (std::size_t g = netlist.gates.size(); g-- > 0;) {
    if (!reached[netlist.gate(g)]) continue;
    for (const Net net : netlist.gates[g].sources()) reached[net] = true;
  }
  return reached;
}

Netlist propagate_constants(const Netlist& netlist, PassStats* stats) {
  Netlist result = rebuilt(netlist, [](NetlistBuilder& builder, TableGate table, std::size_t) {
    fold_constants(table);
    return added_unless_constant(builder, table);
  });
  return recorded("constant propagation", netlist, std::move(result), stats);
}

Netlist remove_unused_inputs(const Netlist& netlist, PassStats* stats) {
  Netlist result = rebuilt(netlist, [](NetlistBuilder& builder, TableGate table, std::size_t) {
    fold_constants(table);
    fold_repeated(table);
    drop_unneeded(table);
    return added_unless_constant(builder, table);
  });
  return recorded("unused inputs", netlist, std::move(result), stats);
}

Netlist absorb_buffers(const Netlist& netlist, PassStats* stats) {
  Netlist result = rebuilt(netlist, [](NetlistBuilder& builder, TableGate table, std::size_t) {
    fold_constants(table);
    fold_complements(table);
    fold_repeated(table);
    drop_unneeded(table);
    if (table.inputs.size() == 1) return table.inputs[0] ^ ((table.truth & 1) != 0);
    return added_unless_constant(builder, table);
  });
  return recorded("buffer absorption", netlist, std::move(result), stats);
}

Netlist structural_hashing(const Netlist& netlist, PassStats* stats) {
  std::unordered_map<NetlistGate, BitLiteral, GateHash> known;
  known.reserve(netlist.gates.size());
  Netlist result = rebuilt(netlist, [&](NetlistBuilder& builder, TableGate table, std::size_t) {
    table = canonical(std::move(table));
    const bool complemented = std::exchange(table.complemented, false);
    if (table.inputs.empty()) return BitLiteral(0, complemented);
    if (table.inputs.size() == 1) return table.inputs[0] ^ complemented;
    const auto [entry, added] = known.try_emplace(key_of(table));
    if (added) entry->second = builder.add(table);
    return entry->second ^ complemented;
  });
  return recorded("structural hashing", netlist, std::move(result), stats);
}

Netlist remove_dangling_gates(const Netlist& netlist, PassStats* stats) {
  const std::vector<bool> reached = reached_nets(netlist);
  Netlist result =
      rebuilt(netlist, [&](NetlistBuilder& builder, const TableGate& table, std::size_t g) {
        return reached[netlist.gate(g)] ? builder.add(table) : BitLiteral(0);
      });
  return recorded("dangling gates", netlist, std::move(result), stats);
}

Netlist decompose(const Netlist& netlist, PassStats* stats) {
  return recorded("decomposition", netlist, to_netlist(to_bit_circuit(netlist), netlist), stats);
}

Netlist resubstitute(const Netlist& netlist, const ResubstitutionParams& params, PassStats* stats) {
  const BitCircuit circuit = resubstitute(to_bit_circuit(netlist), params);
  return recorded("resubstitution", netlist, to_netlist(circuit, netlist), stats);
}

Netlist optimise_dont_cares(const Netlist& netlist, const DontCareParams& params,
                            PassStats* stats) {
  const BitCircuit circuit = optimise_dont_cares(to_bit_circuit(netlist), params);
  return recorded("don't-care optimisation", netlist, to_netlist(circuit, netlist), stats);
}

Netlist rewrite_cuts(const Netlist& netlist, const RewritingParams& params, PassStats* stats) {
  const BitCircuit circuit = rewrite_cuts(to_bit_circuit(netlist), params);
  return recorded("cut rewriting", netlist, to_netlist(circuit, netlist), stats);
}

Netlist resynthesise_arithmetic(const Netlist& netlist, const ArithmeticParams& params,
                                PassStats* stats) {
  const BitCircuit circuit = resynthesise_arithmetic(to_bit_circuit(netlist), params);
  return recorded("arithmetic resynthesis", netlist, to_netlist(circuit, netlist), stats);
}

Netlist simplify(const Netlist& netlist, const SimplifyParams& params,
                 std::vector<PassStats>* stats) {
  const auto record = [&](PassStats own) {
    if (stats != nullptr) stats->push_back(std::move(own));
  };
  Netlist tables = netlist;
  for (const auto& pass : {propagate_constants, remove_unused_inputs, absorb_buffers,
                           structural_hashing, remove_dangling_gates}) {
    PassStats own;
    tables = pass(tables, stats != nullptr ? &own : nullptr);
    record(std::move(own));
  }
  if (params.keeps_tables) return tables;
  BitCircuit circuit = compacted(to_bit_circuit(tables));
  Size size = size_of(circuit);
  record(stats_of("decomposition", size_of(tables), size));
  const auto apply = [&](std::string_view name, const auto& pass, const auto& how) {
    circuit = pass(circuit, how);
    const Size before = std::exchange(size, size_of(circuit));
    record(stats_of(name, before, size));
  };
  const auto iterate = [&] {
    for (int i = 0; i < params.max_iterations; ++i) {
      const std::int64_t before = size.gates;
      apply("resubstitution", as_pass<ResubstitutionParams>(resubstitute), params.resubstitution);
      apply("don't-care optimisation", as_pass<DontCareParams>(optimise_dont_cares),
            params.dont_cares);
      apply("cut rewriting", as_pass<RewritingParams>(rewrite_cuts), params.rewriting);
      // If rewriting skips rounds, another iteration would not finish either.
      const bool is_large = params.rewriting.rounds_for(size.gates) < params.rewriting.max_rounds;
      if (size.gates >= before || is_large) break;
    }
  };
  iterate();
  const std::int64_t before = size.gates;
  apply("arithmetic resynthesis", as_pass<ArithmeticParams>(resynthesise_arithmetic),
        params.arithmetic);
  if (size.gates < before) iterate();
  return to_netlist(circuit, netlist);
}

namespace {

using NamedPass = std::pair<std::string, std::function<Netlist(const Netlist&, PassStats*)>>;

const std::vector<NamedPass>& passes() {
  static const std::vector<NamedPass> all = {
      {"constant propagation", propagate_constants},
      {"unused inputs", remove_unused_inputs},
      {"buffer absorption", absorb_buffers},
      {"structural hashing", structural_hashing},
      {"dangling gates", remove_dangling_gates},
      {"decomposition", decompose},
      {"resubstitution", [](const Netlist& n, PassStats* s) { return resubstitute(n, {}, s); }},
      {"don't-care optimisation",
       [](const Netlist& n, PassStats* s) { return optimise_dont_cares(n, {}, s); }},
      {"cut rewriting", [](const Netlist& n, PassStats* s) { return rewrite_cuts(n, {}, s); }},
      {"arithmetic resynthesis",
       [](const Netlist& n, PassStats* s) { return resynthesise_arithmetic(n, {}, s); }}};
  return all;
}

}  // namespace

const std::vector<std::string>& pass_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const NamedPass& pass : passes()) result.push_back(pass.first);
    return result;
  }();
  return names;
}

Netlist apply_passes(const Netlist& netlist, std::span<const std::string> names,
                     std::vector<PassStats>* stats) {
  Netlist result = netlist;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(passes(), name, &NamedPass::first);
    if (found == passes().end()) {
      fail("simplify", "expected the pass {}, received '{}'", alternatives(pass_names()),
           printable(name));
    }
    PassStats own;
    result = found->second(result, &own);
    if (stats != nullptr) stats->push_back(std::move(own));
  }
  return result;
}

}  // namespace boolgrad::circuit
