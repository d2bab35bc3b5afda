// Mapping with priority cuts: every gate keeps a few cuts, those of least depth and of least area.
// The first round minimises depth. The next ones recover area where the depth has slack, by the
// exact number of tables that a cut adds.
#include "boolgrad/circuit/passes/mapping.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "boolgrad/circuit/builder.h"
#include "boolgrad/circuit/convert.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::circuit {
namespace {

/// A cut: nodes in ascending order that determine another node.
struct Cut {
  std::array<std::uint32_t, max_variables> leaves{};
  std::uint8_t size = 0;
  int depth = 0;    ///< of the table that reads the leaves
  double flow = 0;  ///< area flow: tables needed, each divided among its readers

  std::span<const std::uint32_t> nodes() const { return std::span(leaves).first(size); }
};

bool is_gate(const BitNode& node) {
  return node.kind == BitNodeKind::conjunction || node.kind == BitNodeKind::exclusive_or;
}

Cut trivial_cut(std::uint32_t node) { return {{node}, 1}; }

std::optional<Cut> joined(const Cut& a, const Cut& b, std::size_t max) {
  std::array<std::uint32_t, 2 * max_variables> both{};
  const auto end = std::set_union(a.nodes().begin(), a.nodes().end(), b.nodes().begin(),
                                  b.nodes().end(), both.begin());
  const auto size = static_cast<std::size_t>(end - both.begin());
  if (size > max) return {};
  Cut cut{.size = static_cast<std::uint8_t>(size)};
  std::copy(both.begin(), end, cut.leaves.begin());
  return cut;
}

bool is_shallower(const Cut& a, const Cut& b) {
  return std::tuple(a.depth, a.flow, a.size) < std::tuple(b.depth, b.flow, b.size);
}

bool is_smaller(const Cut& a, const Cut& b) {
  return std::tuple(a.flow, a.depth, a.size) < std::tuple(b.flow, b.depth, b.size);
}

/// Keeps the best cuts, half of them by depth and half by area. The first has the least depth.
void keep_best(std::vector<Cut>& cuts, std::size_t max) {
  const auto same = [](const Cut& a, const Cut& b) {
    return std::ranges::equal(a.nodes(), b.nodes());
  };
  std::ranges::stable_sort(cuts, is_shallower);
  cuts.erase(std::unique(cuts.begin(), cuts.end(), same), cuts.end());
  if (cuts.size() <= max) return;
  std::stable_sort(cuts.begin() + static_cast<std::ptrdiff_t>(max / 2), cuts.end(), is_smaller);
  cuts.resize(max);
}

class Mapper {
 public:
  Mapper(const BitCircuit& circuit, const MappingParams& params)
      : circuit_(circuit),
        params_(params),
        nodes_(circuit.nodes()),
        cuts_(nodes_.size()),
        chosen_(nodes_.size(), 0),
        depths_(nodes_.size(), 0),
        flows_(nodes_.size(), 0),
        readers_(nodes_.size(), 0) {}

  Netlist map(const Netlist& like) {
    find_cuts();
    for (const BitLiteral output : circuit_.outputs()) retain(output.node());
    for (int round = 0; round < params_.area_rounds; ++round) recover_area();
    return written(like);
  }

 private:
  void find_cuts() {
    const std::vector<bool> reachable = circuit_.reachable();
    std::vector<int> reads(nodes_.size(), 0);
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      if (!reachable[n] || !is_gate(nodes_[n])) continue;
      ++reads[nodes_[n].a.node()];
      ++reads[nodes_[n].b.node()];
    }
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      if (!is_gate(nodes_[n]) || !reachable[n]) continue;
      find_cuts_of(n);
      depths_[n] = cuts_[n][0].depth;
      flows_[n] = cuts_[n][0].flow / std::max(1, reads[n]);
    }
  }

  void find_cuts_of(std::uint32_t n) {
    const auto max = static_cast<std::size_t>(params_.inputs);
    for (const Cut& a : with_trivial_cut(nodes_[n].a.node())) {
      for (const Cut& b : with_trivial_cut(nodes_[n].b.node())) {
        std::optional<Cut> cut = joined(a, b, max);
        if (!cut) continue;
        cut->depth = depth_of(*cut);
        cut->flow = 1;
        for (const std::uint32_t leaf : cut->nodes()) cut->flow += flows_[leaf];
        cuts_[n].push_back(*cut);
      }
    }
    keep_best(cuts_[n], params_.max_cuts);
  }

  std::vector<Cut> with_trivial_cut(std::uint32_t n) const {
    std::vector<Cut> result = cuts_[n];
    result.push_back(trivial_cut(n));
    return result;
  }

  const Cut& cut_of(std::uint32_t n) const { return cuts_[n][chosen_[n]]; }

  int depth_of(const Cut& cut) const {
    int depth = 0;
    for (const std::uint32_t leaf : cut.nodes()) depth = std::max(depth, depths_[leaf] + 1);
    return depth;
  }

  /// Adds a reader and returns the number of tables that become needed.
  int retain(std::uint32_t first) {
    int tables = 0;
    std::vector<std::uint32_t> waiting{first};
    while (!waiting.empty()) {
      const std::uint32_t n = waiting.back();
      waiting.pop_back();
      if (readers_[n]++ > 0 || !is_gate(nodes_[n])) continue;
      ++tables;
      waiting.insert(waiting.end(), cut_of(n).nodes().begin(), cut_of(n).nodes().end());
    }
    return tables;
  }

  void release(std::uint32_t first) {
    std::vector<std::uint32_t> waiting{first};
    while (!waiting.empty()) {
      const std::uint32_t n = waiting.back();
      waiting.pop_back();
      if (--readers_[n] > 0 || !is_gate(nodes_[n])) continue;
      waiting.insert(waiting.end(), cut_of(n).nodes().begin(), cut_of(n).nodes().end());
    }
  }

  /// The required depth of each node, so that the depth of the circuit stays minimal.
  std::vector<int> required_depths() const {
    constexpr int any = std::numeric_limits<int>::max();
    std::vector<int> required(nodes_.size(), any);
    if (!params_.keeps_depth) return required;
    int deepest = 0;
    for (const BitLiteral output : circuit_.outputs()) {
      deepest = std::max(deepest, depths_[output.node()]);
    }
    for (const BitLiteral output : circuit_.outputs()) required[output.node()] = deepest;
    for (std::uint32_t n = static_cast<std::uint32_t>(nodes_.size()); n-- > 0;) {
      if (readers_[n] == 0 || !is_gate(nodes_[n])) continue;
      for (const std::uint32_t leaf : cut_of(n).nodes()) {
        required[leaf] = std::min(required[leaf], required[n] - 1);
      }
    }
    return required;
  }

  /// Exact area recovery: gives every table in use the cut that adds the fewest tables.
  void recover_area() {
    const std::vector<int> required = required_depths();
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      if (!is_gate(nodes_[n]) || cuts_[n].empty()) continue;
      if (readers_[n] > 0) choose(n, required[n]);
      depths_[n] = depth_of(cut_of(n));
    }
  }

  void choose(std::uint32_t n, int required) {
    for (const std::uint32_t leaf : cut_of(n).nodes()) release(leaf);
    std::size_t best = chosen_[n];
    auto least = std::pair(std::numeric_limits<int>::max(), std::numeric_limits<int>::max());
    for (std::size_t i = 0; i < cuts_[n].size(); ++i) {
      const int depth = depth_of(cuts_[n][i]);
      if (depth > required) continue;
      int tables = 0;
      for (const std::uint32_t leaf : cuts_[n][i].nodes()) tables += retain(leaf);
      for (const std::uint32_t leaf : cuts_[n][i].nodes()) release(leaf);
      if (std::pair(tables, depth) >= least) continue;
      least = {tables, depth};
      best = i;
    }
    chosen_[n] = best;
    for (const std::uint32_t leaf : cut_of(n).nodes()) retain(leaf);
  }

  /// The function of a node over the leaves of its cut.
  Truth truth_of(std::uint32_t root) const {
    std::map<std::uint32_t, Truth> known;
    for (std::size_t j = 0; j < cut_of(root).size; ++j) {
      known[cut_of(root).leaves[j]] = variable_truth[j];
    }
    std::vector<std::uint32_t> waiting{root};
    while (!waiting.empty()) {
      const BitNode& node = nodes_[waiting.back()];
      const auto a = known.find(node.a.node());
      const auto b = known.find(node.b.node());
      if (known.contains(waiting.back())) {
        waiting.pop_back();
      } else if (a == known.end() || b == known.end()) {
        waiting.push_back(a == known.end() ? node.a.node() : node.b.node());
      } else {
        const Truth x = node.a.complemented() ? ~a->second : a->second;
        const Truth y = node.b.complemented() ? ~b->second : b->second;
        known[waiting.back()] = node.kind == BitNodeKind::conjunction ? x & y : x ^ y;
      }
    }
    return known[root];
  }

  Netlist written(const Netlist& like) const {
    NetlistBuilder builder(like);
    std::vector<BitLiteral> literals(nodes_.size());
    for (std::uint32_t n = 1; n < nodes_.size(); ++n) {
      if (nodes_[n].kind == BitNodeKind::input) literals[n] = builder.input(n - 1);
      if (readers_[n] == 0 || !is_gate(nodes_[n])) continue;
      TableGate table{truth_of(n), {}, false};
      for (const std::uint32_t leaf : cut_of(n).nodes()) table.inputs.push_back(literals[leaf]);
      literals[n] = added(builder, canonical(std::move(table)));
    }
    std::vector<BitLiteral> outputs;
    for (const BitLiteral output : circuit_.outputs()) {
      outputs.push_back(literals[output.node()] ^ output.complemented());
    }
    return builder.finish(outputs);
  }

  static BitLiteral added(NetlistBuilder& builder, const TableGate& table) {
    if (table.inputs.empty()) return BitLiteral(0, table.complemented);
    if (table.inputs.size() == 1) return table.inputs[0] ^ table.complemented;
    return builder.add(table);
  }

  const BitCircuit& circuit_;
  const MappingParams& params_;
  std::span<const BitNode> nodes_;
  std::vector<std::vector<Cut>> cuts_;
  std::vector<std::size_t> chosen_;  ///< index of the cut in use per gate
  std::vector<int> depths_;
  std::vector<double> flows_;
  std::vector<int> readers_;  ///< tables in use and outputs that read the node
};

}  // namespace

Netlist map_to_luts(const Netlist& netlist, const MappingParams& params, MappingStats* stats) {
  if (params.inputs < 2 || params.inputs > NetlistGate::max_inputs || params.max_cuts < 2) {
    fail("map_to_luts", "expected tables of 2 to {} inputs and at least 2 cuts, received {} and {}",
         NetlistGate::max_inputs, params.inputs, params.max_cuts);
  }
  const BitCircuit circuit = to_bit_circuit(netlist);
  // A table may not depend on one of its leaves, which leaves dangling gates.
  Netlist result = remove_dangling_gates(structural_hashing(Mapper(circuit, params).map(netlist)));
  if (stats != nullptr) {
    *stats = {gate_count(result), depth(result), circuit.gates(), depth(netlist)};
  }
  return result;
}

}  // namespace boolgrad::circuit
