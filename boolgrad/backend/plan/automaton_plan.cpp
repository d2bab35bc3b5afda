#include "boolgrad/backend/plan/automaton_plan.h"

#include <algorithm>
#include <numeric>

#include "boolgrad/core/fail.h"

namespace boolgrad {

using namespace layout;

namespace {

constexpr int centre = 4;
constexpr std::size_t tree_leaves = 8;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// ------------------------------------------------------------------ layers

/// The two sources of each gate.
using Sources = std::vector<std::array<int, 2>>;

Sources sources_of(const LutWires& wires) {
  Sources sources(index(wires.gates));
  for (std::size_t gate = 0; gate < sources.size(); ++gate) {
    sources[gate] = {wires.sources[gate * 2], wires.sources[gate * 2 + 1]};
  }
  return sources;
}

void check_layers(const RuleWires& rule, int max_layers) {
  if (rule.perceive.size() + rule.update.size() > index(max_layers)) {
    fail("automaton plan", "expected at most {} layers, received {}", max_layers,
         rule.perceive.size() + rule.update.size());
  }
  for (const auto part : {rule.perceive, rule.update}) {
    for (const LutWires& wires : part) {
      // All row numbers have 16 bits.
      constexpr std::int64_t max_rows = 16384;
      if (wires.arity != 2 || wires.gates > max_rows || wires.inputs > max_rows) {
        fail("automaton plan",
             "expected layers of at most {} inputs and gates of two inputs, received {} inputs and "
             "{} gates of {}",
             max_rows, wires.inputs, wires.gates, wires.arity);
      }
    }
  }
}

/// The rows of the edges of a layer.
struct EdgeRows {
  std::vector<std::array<int, 2>> reads;     ///< per input: the first two edges, 0 if there is none
  std::vector<std::array<int, 2>> further;   ///< per input: first row and number of further edges
  std::vector<std::array<int, 2>> of_wires;  ///< per gate: the edges of its two wires
  int rows = 0;
};

EdgeRows edge_rows_of(const Sources& sources, int inputs) {
  EdgeRows edges;
  edges.reads.assign(index(inputs), {0, 0});
  edges.further.assign(index(inputs), {0, 0});
  edges.of_wires.assign(sources.size(), {0, 0});
  const auto take = [&](std::size_t gate, std::size_t slot, std::size_t reader) {
    const int input = sources[gate][slot];
    int& row = edges.reads[index(input)][reader];
    if (row != 0) return false;
    row = 1 + input + static_cast<int>(reader) * inputs;
    edges.of_wires[gate][slot] = row;
    return true;
  };
  for (std::size_t gate = 0; gate < sources.size(); ++gate) {
    for (std::size_t slot = 0; slot < 2; ++slot) {
      // Separate rows for first and second inputs keep the writes of a group on different banks.
      if (take(gate, slot, slot) || take(gate, slot, 1 - slot)) continue;
      ++edges.further[index(sources[gate][slot])][1];
    }
  }
  edges.rows = 1 + 2 * inputs;
  for (auto& [first, count] : edges.further) {
    first = edges.rows;
    edges.rows += count;
  }
  std::vector<int> next(index(inputs));
  for (std::size_t i = 0; i < next.size(); ++i) next[i] = edges.further[i][0];
  for (std::size_t gate = 0; gate < sources.size(); ++gate) {
    for (std::size_t slot = 0; slot < 2; ++slot) {
      int& row = edges.of_wires[gate][slot];
      if (row == 0) row = next[index(sources[gate][slot])]++;
    }
  }
  return edges;
}

std::uint32_t pair_of(const std::array<int, 2>& pair) {
  return static_cast<std::uint32_t>(pair[0]) | static_cast<std::uint32_t>(pair[1]) << 16;
}

/// Builds a plan layer by layer.
class Planner {
 public:
  Planner(const RuleWires& rule, const PlanLimits& limits) : rule_(rule), limits_(limits) {}

  RulePlan planned() {
    check_layers(rule_, limits_.layers);
    plan_.perceive_layers = static_cast<int>(rule_.perceive.size());
    plan_.kernel_outputs = static_cast<int>(rule_.perceive.back().gates);
    number_parameters();
    if (!add_trees()) add_perception();
    add_update();
    shorten_wires();
    return std::move(plan_);
  }

 private:
  void number_parameters() {
    std::uint32_t layer = 0;
    std::uint32_t first = 0;
    for (const auto part : {rule_.perceive, rule_.update}) {
      for (const LutWires& wires : part) {
        first_gate_.push_back(first);
        for (std::int64_t i = 0; i < wires.gates; ++i) {
          plan_.layer_of.push_back(layer | first << 8);
        }
        first += static_cast<std::uint32_t>(wires.gates);
        ++layer;
      }
    }
  }

  std::uint32_t parameter(std::size_t layer, std::int64_t gate) const {
    return first_gate_[layer] + static_cast<std::uint32_t>(gate);
  }

  // ---- perception as trees

  /// The wires of one kernel in a layer, if all kernels have the same; otherwise empty.
  std::vector<std::array<int, 2>> kernel_wires(std::size_t layer) const {
    const LutWires& wires = rule_.perceive[layer];
    const Sources all = sources_of(wires);
    const int kernels = static_cast<int>(rule_.kernels);
    std::vector<std::array<int, 2>> one;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const int kernel = static_cast<int>(i) % kernels;
      std::array<int, 2> wire = all[i];
      if (layer > 0) {
        for (int& source : wire) {
          if (source % kernels != kernel) return {};
          source /= kernels;
        }
      }
      if (kernel == 0) one.push_back(wire);
      else if (one.back() != wire) return {};
    }
    return one;
  }

  /// Adds all kernels as trees. Returns false if they are not trees.
  bool add_trees() {
    const std::size_t depth = rule_.perceive.size();
    if ((depth != 3 && depth != 4) || rule_.kernels > limits_.tree_kernels) return false;
    std::vector<std::vector<std::array<int, 2>>> wires;
    for (std::size_t l = 0; l < depth; ++l) {
      wires.push_back(kernel_wires(l));
      if (wires.back().size() != tree_leaves >> l) return false;
    }
    // From the outputs to the leaves: the nodes of a layer in the order in which the next layer
    // reads.
    std::vector<std::vector<int>> orders(depth);
    orders[depth - 1].resize(wires[depth - 1].size());
    std::iota(orders[depth - 1].begin(), orders[depth - 1].end(), 0);
    for (std::size_t l = depth - 1; l > 0; --l) {
      for (const int node : orders[l]) {
        orders[l - 1].push_back(wires[l][index(node)][0]);
        orders[l - 1].push_back(wires[l][index(node)][1]);
      }
      std::vector<int> sorted = orders[l - 1];
      std::ranges::sort(sorted);
      for (std::size_t i = 0; i < sorted.size(); ++i) {
        if (sorted[i] != static_cast<int>(i)) return false;
      }
    }
    return add_leaves(wires[0], orders[0]) && add_nodes(orders);
  }

  /// Each leaf must read the cell itself and a different neighbour.
  bool add_leaves(const std::vector<std::array<int, 2>>& wires, const std::vector<int>& order) {
    std::array<bool, neighbourhood> seen{};
    leaf_swapped_.clear();
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto [a, b] = wires[index(order[i])];
      if ((a == centre) == (b == centre)) return false;
      const int neighbour = a == centre ? b : a;
      if (seen[index(neighbour)]) return false;
      seen[index(neighbour)] = true;
      plan_.neighbours[i] = neighbour;
      leaf_swapped_.push_back(a == centre);
    }
    plan_.own_row = neighbourhood - 1;
    plan_.neighbours[neighbourhood - 1] = centre;
    return true;
  }

  bool add_nodes(const std::vector<std::vector<int>>& orders) {
    const std::int64_t kernels = rule_.kernels;
    for (std::size_t l = 0; l < orders.size(); ++l) {
      plan_.layers.push_back({static_cast<int>(rule_.perceive[l].gates), plan_.gates(), 0, 0});
      plan_.inputs.push_back(static_cast<int>(rule_.perceive[l].inputs));
      plan_.edge_rows.push_back(0);
      for (std::size_t i = 0; i < orders[l].size(); ++i) {
        for (std::int64_t k = 0; k < kernels; ++k) {
          const bool swapped = l == 0 && leaf_swapped_[i];
          plan_.origin.push_back(parameter(l, orders[l][i] * kernels + k) |
                                 (swapped ? swapped_inputs : 0));
          plan_.wires.push_back({});
        }
      }
    }
    plan_.tree_outputs = static_cast<int>(orders.back().size());
    return true;
  }

  // ---- perception and update as layers

  void add_perception() {
    std::iota(plan_.neighbours.begin(), plan_.neighbours.end(), 0);
    plan_.own_row = centre;
    for (std::size_t l = 0; l < rule_.perceive.size(); ++l) {
      const Sources sources = sources_of(rule_.perceive[l]);
      std::vector<int> order(sources.size());
      std::iota(order.begin(), order.end(), 0);
      const EdgeRows edges = add_layer(l, sources, order, rule_.perceive[l].inputs);
      for (std::size_t row = 0; row < edges.reads.size(); ++row) {
        const Reads reads = reads_of(edges, row);
        if (l == 0) plan_.patch_reads[row] = reads;
        else plan_.wires[index(plan_.layers[l - 1].first_gate) + row].reads = reads;
      }
    }
  }

  /// The row of input `u` of the update.
  int update_row(int u) const {
    const int channels = static_cast<int>(rule_.channels);
    if (u < channels) return u;
    const int channel = (u - channels) / plan_.kernel_outputs;
    const int output = (u - channels) % plan_.kernel_outputs;
    return (1 + output) * channels + channel;
  }

  void add_update() {
    std::vector<int> row(index(rule_.update.front().inputs));  // of each input of the next layer
    for (std::size_t u = 0; u < row.size(); ++u) row[u] = update_row(static_cast<int>(u));
    for (std::size_t i = 0; i < rule_.update.size(); ++i) {
      const std::size_t l = rule_.perceive.size() + i;
      Sources sources = sources_of(rule_.update[i]);
      for (auto& [a, b] : sources) {
        a = row[index(a)];
        b = row[index(b)];
      }
      const bool is_last = i + 1 == rule_.update.size();
      const std::vector<int> order = order_of(sources, is_last);
      const EdgeRows edges = add_layer(l, sources, order, rule_.update[i].inputs);
      for (std::size_t r = 0; r < edges.reads.size(); ++r) {
        const Reads reads = reads_of(edges, r);
        if (i == 0) plan_.input_reads.push_back(reads);
        else plan_.wires[index(plan_.layers[l - 1].first_gate) + r].reads = reads;
      }
      row.resize(order.size());
      for (std::size_t at = 0; at < order.size(); ++at)
        row[index(order[at])] = static_cast<int>(at);
    }
    // The gradients of the outputs are written to their first edges.
    const Layer& last = plan_.layers.back();
    for (int i = 0; i < last.gates; ++i) {
      plan_.wires[index(last.first_gate + i)].reads = {static_cast<std::uint32_t>(1 + i), -1};
    }
  }

  /// The order of the gates. The outputs of the last layer are channels and keep their order.
  std::vector<int> order_of(const Sources& sources, bool is_last) const {
    std::vector<int> order(sources.size());
    std::iota(order.begin(), order.end(), 0);
    if (is_last || limits_.classes == 1) return order;
    std::vector<std::array<int, 2>> edges;
    for (const auto& [a, b] : sources) edges.push_back({a % limits_.classes, b % limits_.classes});
    return in_matchings(edges, limits_.classes);
  }

  EdgeRows add_layer(std::size_t l, const Sources& sources, const std::vector<int>& order,
                     std::int64_t inputs) {
    Sources placed;
    for (const int gate : order) placed.push_back(sources[index(gate)]);
    EdgeRows edges = edge_rows_of(placed, static_cast<int>(inputs));
    if (edges.rows > 65535) {
      fail("automaton plan", "expected at most 65535 readers of the inputs of a layer, received {}",
           edges.rows);
    }
    plan_.layers.push_back({static_cast<int>(order.size()), plan_.gates(), 0, 0});
    plan_.inputs.push_back(static_cast<int>(inputs));
    plan_.edge_rows.push_back(edges.rows);
    for (std::size_t at = 0; at < order.size(); ++at) {
      plan_.origin.push_back(parameter(l, order[at]));
      plan_.wires.push_back({pair_of(placed[at]), pair_of(edges.of_wires[at]), {0, -1}});
    }
    return edges;
  }

  void shorten_wires() {
    plan_.short_wires.assign(plan_.wires.size(), 0);
    for (std::size_t l = index(plan_.perceive_layers); l < plan_.layers.size(); ++l) {
      const Layer& layer = plan_.layers[l];
      for (int of = 0; of < layer.gates; ++of) {
        const std::size_t at = index(layer.first_gate + of);
        plan_.short_wires[at] = shortened(plan_.wires[at], of, layer.gates, plan_.inputs[l]);
      }
    }
  }

  /// The compressed wires of `automaton_layout.h`.
  static std::uint32_t shortened(const Wires& wires, int of, int gates, int stride) {
    std::uint32_t word = 0;
    for (int slot = 0; slot < 2; ++slot) {
      const int row = static_cast<int>(wires.sources >> (16 * slot) & 0xFFFF);
      const int edge = static_cast<int>(wires.edges >> (16 * slot) & 0xFFFF);
      if (row > static_cast<int>(short_row_mask)) word |= long_sources | long_edges;
      word |= (static_cast<std::uint32_t>(row) & short_row_mask) << (short_row_bits * slot);
      if (edge == 1 + row + stride) word |= 1U << (second_edges_bit + slot);
      else if (edge != 1 + row) word |= long_edges;
      const int read = static_cast<int>(wires.reads.rows >> (16 * slot) & 0xFFFF);
      if (read != 0 && read != 1 + of + slot * gates) word |= long_edges;
      else if (read != 0) word |= slot == 0 ? read_once : read_again;
    }
    if (wires.reads.rest >= 0) word |= long_edges;
    return word;
  }

  Reads reads_of(const EdgeRows& edges, std::size_t row) {
    Reads reads{pair_of(edges.reads[row]), -1};
    const auto [first, count] = edges.further[row];
    if (count > 0) {
      reads.rest = static_cast<int>(plan_.rest.size());
      plan_.rest.push_back({static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(count)});
    }
    return reads;
  }

  const RuleWires& rule_;
  const PlanLimits& limits_;
  RulePlan plan_;
  std::vector<std::uint32_t> first_gate_;
  std::vector<bool> leaf_swapped_;
};

}  // namespace

int RulePlan::update_width() const {
  int width = 0;
  for (std::size_t l = index(perceive_layers); l < layers.size(); ++l) {
    width = std::max(width, layers[l].gates);
  }
  return width;
}

bool RulePlan::edges_are_in_place() const {
  const auto is_short = [](std::uint32_t row) { return row < 4096; };
  for (std::size_t l = index(perceive_layers); l < layers.size(); ++l) {
    const auto gates = static_cast<std::uint32_t>(layers[l].gates);
    for (std::uint32_t of = 0; of < gates; ++of) {
      const Wires& gate = wires[index(layers[l].first_gate) + of];
      const std::uint32_t once = gate.reads.rows & 0xFFFF;
      const std::uint32_t again = gate.reads.rows >> 16;
      if (!is_short(gate.sources & 0xFFFF) || !is_short(gate.sources >> 16)) return false;
      if ((once != 0 && once != 1 + of) || (again != 0 && again != 1 + of + gates)) return false;
      if (gate.reads.rest < 0) continue;
      const Rest& further = rest[index(gate.reads.rest)];
      if (further.count != 1 || further.first != 1 + 2 * gates) return false;
    }
  }
  return true;
}

RulePlan plan_rule(const RuleWires& rule, const PlanLimits& limits) {
  return Planner(rule, limits).planned();
}

std::vector<int> in_matchings(const std::vector<std::array<int, 2>>& edges, int classes) {
  const auto n = index(classes);
  std::array<std::vector<int>, 2> degree{std::vector<int>(n), std::vector<int>(n)};
  for (const auto& [a, b] : edges) {
    ++degree[0][index(a)];
    ++degree[1][index(b)];
  }
  const int colours =
      std::max(*std::ranges::max_element(degree[0]), *std::ranges::max_element(degree[1]));
  // at[side][vertex * colours + colour]: the edge of that colour at the vertex, or -1.
  std::array<std::vector<int>, 2> at;
  for (auto& side : at) side.assign(n * index(colours), -1);
  const auto edge_at = [&](std::size_t side, int vertex, int colour) -> int& {
    return at[side][index(vertex) * index(colours) + index(colour)];
  };
  const auto free_colour = [&](std::size_t side, int vertex) {
    int colour = 0;
    while (edge_at(side, vertex, colour) >= 0) ++colour;
    return colour;
  };
  std::vector<int> colour_of(edges.size(), -1);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto [a, b] = edges[e];
    const int wanted = free_colour(0, a);
    const int other = free_colour(1, b);
    // Swap the two colours along the alternating path from b. Then `wanted` is free at b. The path
    // cannot end at a, where `wanted` is free.
    std::vector<int> path;
    std::size_t side = 1;
    int vertex = b;
    int colour = wanted;
    while (edge_at(side, vertex, colour) >= 0) {
      const int next = edge_at(side, vertex, colour);
      path.push_back(next);
      side = 1 - side;
      vertex = edges[index(next)][side];
      colour = colour == wanted ? other : wanted;
    }
    for (const int p : path) {
      for (std::size_t s = 0; s < 2; ++s) edge_at(s, edges[index(p)][s], colour_of[index(p)]) = -1;
    }
    for (const int p : path) {
      int& c = colour_of[index(p)];
      c = c == wanted ? other : wanted;
      for (std::size_t s = 0; s < 2; ++s) edge_at(s, edges[index(p)][s], c) = p;
    }
    colour_of[e] = wanted;
    edge_at(0, a, wanted) = static_cast<int>(e);
    edge_at(1, b, wanted) = static_cast<int>(e);
  }
  std::vector<std::vector<int>> matchings(index(colours));
  for (std::size_t e = 0; e < edges.size(); ++e) {
    matchings[index(colour_of[e])].push_back(static_cast<int>(e));
  }
  // Full groups first, so that they stay aligned.
  std::ranges::stable_sort(matchings,
                           [](const auto& x, const auto& y) { return x.size() > y.size(); });
  std::vector<int> order;
  for (const auto& matching : matchings)
    order.insert(order.end(), matching.begin(), matching.end());
  return order;
}

}  // namespace boolgrad
