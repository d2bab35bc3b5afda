// Mapping by cuts, for both polarities of every gate. The first rounds choose matches of least area
// flow: the area of a cell and of what it reads, each divided among its readers. The last ones
// count the cells exactly that a match adds.
#include "boolgrad/circuit/cells/cell_mapping.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "boolgrad/circuit/cells/cell_matches.h"
#include "boolgrad/circuit/convert.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/passes/small_cuts.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::circuit {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

bool is_gate(const BitNode& node) {
  return node.kind == BitNodeKind::conjunction || node.kind == BitNodeKind::exclusive_or;
}

/// The gates that outputs need, in the form that is mapped.
struct Graph {
  std::vector<BitNode> nodes;  ///< as those of a BitCircuit
  std::vector<BitLiteral> outputs;
};

/// Without the gates that no output needs.
Graph graph_of(const BitCircuit& circuit) {
  Graph graph;
  const std::vector<bool> reachable = circuit.reachable();
  std::vector<BitLiteral> literals(circuit.nodes().size());
  const auto moved = [&](BitLiteral literal) {
    return literals[literal.node()] ^ literal.complemented();
  };
  for (std::uint32_t n = 0; n < circuit.nodes().size(); ++n) {
    const BitNode& node = circuit.nodes()[n];
    if (is_gate(node) && !reachable[n]) continue;
    literals[n] = BitLiteral(static_cast<std::uint32_t>(graph.nodes.size()));
    graph.nodes.push_back(is_gate(node) ? BitNode{node.kind, moved(node.a), moved(node.b)} : node);
  }
  for (const BitLiteral output : circuit.outputs()) graph.outputs.push_back(moved(output));
  return graph;
}

/// The same function with XORs as (a OR b) AND NOT (a AND b). Carries share a AND b with sums, and
/// libraries without an XOR match. A BitCircuit would turn it into an XOR again.
Graph with_conjunctions(const Graph& graph) {
  Graph result;
  std::map<std::pair<BitLiteral, BitLiteral>, BitLiteral> known;
  const auto conjunction = [&](BitLiteral a, BitLiteral b) {
    const auto next = BitLiteral(static_cast<std::uint32_t>(result.nodes.size()));
    const auto [entry, added] = known.try_emplace(std::pair(std::min(a, b), std::max(a, b)), next);
    if (added) {
      result.nodes.push_back({BitNodeKind::conjunction, std::min(a, b), std::max(a, b)});
    }
    return entry->second;
  };
  std::vector<BitLiteral> literals;
  const auto moved = [&](BitLiteral literal) {
    return literals[literal.node()] ^ literal.complemented();
  };
  for (const BitNode& node : graph.nodes) {
    if (!is_gate(node)) {
      literals.emplace_back(static_cast<std::uint32_t>(result.nodes.size()));
      result.nodes.push_back(node);
      continue;
    }
    const BitLiteral a = moved(node.a);
    const BitLiteral b = moved(node.b);
    literals.push_back(node.kind == BitNodeKind::conjunction
                           ? conjunction(a, b)
                           : conjunction(!conjunction(a, b), !conjunction(!a, !b)));
  }
  for (const BitLiteral output : graph.outputs) result.outputs.push_back(moved(output));
  return result;
}

/// A signal is a node in one polarity: the code of a literal.
using Code = std::uint32_t;

Code complement(Code signal) { return signal ^ 1U; }

/// A cell at a node: a match of one of its cuts.
struct Choice {
  CellMatch match;
  std::array<std::uint32_t, Cell::max_inputs> leaves{};  ///< of the cut

  std::uint32_t cell() const { return match.cell; }
  std::size_t inputs() const { return match.inputs; }
  Code input(std::size_t pin) const {
    return 2 * leaves[match.variables[pin]] + (unsigned{match.phases} >> pin & 1U);
  }
};

class CellMapper {
 public:
  CellMapper(const Graph& graph, const CellLibrary& library, const CellMatches& matches,
             const CellMappingParams& params)
      : outputs_(graph.outputs),
        library_(library),
        matches_(matches),
        params_(params),
        nodes_(graph.nodes),
        inverter_(library.smallest(0x5555, 1).value()),
        inverter_area_(library.cells[inverter_].area),
        cut_begins_(nodes_.size() + 1, 0),
        choices_(2 * nodes_.size()),
        inverts_(2 * nodes_.size(), false),
        flows_(2 * nodes_.size(), 0),
        expected_(2 * nodes_.size(), 1),
        readers_(2 * nodes_.size(), 0) {
    find_cuts();
  }

  /// Whether every gate has a cell.
  bool map() {
    expect_fanout();
    for (int round = 0; round < params_.flow_rounds; ++round) {
      if (!minimise_flow()) return false;
      cover();
      for (std::size_t s = 0; s < expected_.size(); ++s) {
        expected_[s] = (2 * expected_[s] + readers_[s]) / 3;
      }
    }
    visits_left_ = params_.max_visits_per_gate * static_cast<std::int64_t>(nodes_.size());
    for (int round = 0; round < params_.area_rounds; ++round) recover_area();
    return true;
  }

  double area() const {
    double area = 0;
    for (Code s = 0; s < readers_.size(); ++s) {
      if (readers_[s] == 0 || is_free(s)) continue;
      area += inverts_[s] ? inverter_area_ : library_.cells[choices_[s].cell()].area;
    }
    return area;
  }

  CellCover written(const Netlist& like) const {
    CellCover cover;
    cover.netlist.name = like.name;
    cover.netlist.inputs = like.inputs;
    cover.netlist.outputs = like.outputs;
    cover.netlist.state = like.state;
    std::vector<Net> nets(readers_.size(), 0);
    for (std::size_t i = 0; i < like.inputs.size(); ++i) {
      nets[2 * (i + 1)] = cover.netlist.input(i);  // node 0 is the constant
    }
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      // The polarity that the other one may invert comes first.
      const Code first = 2 * n + (inverts_[2 * n] ? 1U : 0U);
      for (const Code s : {first, complement(first)}) {
        if (readers_[s] > 0 && !is_free(s)) nets[s] = written_cell(cover, s, nets);
      }
    }
    for (const BitLiteral output : outputs_) {
      if (output.node() == 0) nets[output.code()] = constant(cover, output.complemented());
      cover.netlist.output_nets.push_back(nets[output.code()]);
    }
    cover.netlist = checked(std::move(cover.netlist));
    for (const std::size_t cell : cover.cells) {
      if (cell < library_.cells.size()) cover.area += library_.cells[cell].area;
    }
    cover.depth = circuit::depth(cover.netlist);
    return cover;
  }

 private:
  /// Inputs and constants need no cell.
  bool is_free(Code s) const {
    const BitNode& node = nodes_[s / 2];
    return node.kind == BitNodeKind::constant || (node.kind == BitNodeKind::input && s % 2 == 0);
  }
  bool is_input(Code s) const { return !is_gate(nodes_[s / 2]); }

  void find_cuts() {
    SmallCuts cuts(nodes_, params_.max_cuts);
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      cut_begins_[n] = cuts_.size();
      if (!is_gate(nodes_[n])) continue;
      for (const SmallCut& cut : cuts.of(n)) {
        if (cut.leaves[0] != n) cuts_.push_back(cut);
      }
    }
    cut_begins_[nodes_.size()] = cuts_.size();
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      if (!is_gate(nodes_[n])) inverts_[2 * n + 1] = true;
    }
  }

  std::span<const SmallCut> cuts_of(std::uint32_t n) const {
    return std::span(cuts_).subspan(cut_begins_[n], cut_begins_[n + 1] - cut_begins_[n]);
  }

  void expect_fanout() {
    std::vector<double> fanout(nodes_.size(), 0);
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      if (!is_gate(nodes_[n])) continue;
      ++fanout[nodes_[n].a.node()];
      ++fanout[nodes_[n].b.node()];
    }
    for (const BitLiteral output : outputs_) ++fanout[output.node()];
    for (std::size_t s = 0; s < expected_.size(); ++s) expected_[s] = fanout[s / 2];
  }

  /// Calls `visit(choice)` for every cell that computes a signal.
  template <class Visit>
  void for_each_choice(Code s, const Visit& visit) const {
    for (const SmallCut& cut : cuts_of(s / 2)) {
      const SmallTruth truth =
          s % 2 == 0 ? cut.truth : static_cast<SmallTruth>(~unsigned{cut.truth});
      for (const CellMatch& match : matches_.of(truth)) visit(Choice{match, cut.leaves});
    }
  }

  bool minimise_flow() {
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      if (is_input(2 * n)) {
        flows_[2 * n + 1] =
            nodes_[n].kind == BitNodeKind::constant ? 0 : inverter_area_ / readers_of(2 * n + 1);
        continue;
      }
      std::array<double, 2> least{infinite, infinite};
      for (const Code s : {2 * n, 2 * n + 1}) {
        for_each_choice(s, [&](const Choice& choice) {
          double flow = library_.cells[choice.cell()].area;
          for (std::size_t pin = 0; pin < choice.inputs(); ++pin) flow += flows_[choice.input(pin)];
          if (flow >= least[s % 2]) return;
          least[s % 2] = flow;
          choices_[s] = choice;
        });
      }
      if (least[0] == infinite && least[1] == infinite) return false;
      for (unsigned p = 0; p < 2; ++p) {
        const Code s = 2 * n + p;
        inverts_[s] = least[1 - p] + inverter_area_ < least[p];
        flows_[s] = (inverts_[s] ? least[1 - p] + inverter_area_ : least[p]) / readers_of(s);
      }
    }
    return true;
  }

  double readers_of(Code s) const { return std::max(1.0, expected_[s]); }

  /// Uses the choices of least flow for all that the outputs need.
  void cover() {
    std::ranges::fill(readers_, 0);
    for (const BitLiteral output : outputs_) retain(output.code());
  }

  double own_area(Code s) const {
    return inverts_[s] ? inverter_area_ : library_.cells[choices_[s].cell()].area;
  }

  void push_inputs(Code s, std::vector<Code>& waiting) const {
    if (inverts_[s]) {
      waiting.push_back(complement(s));
      return;
    }
    const Choice& choice = choices_[s];
    for (std::size_t pin = 0; pin < choice.inputs(); ++pin) waiting.push_back(choice.input(pin));
  }

  /// Adds a reader and returns the area of the cells that become needed.
  double retain(Code first) {
    double area = 0;
    waiting_.assign(1, first);
    while (!waiting_.empty()) {
      const Code s = waiting_.back();
      waiting_.pop_back();
      --visits_left_;
      if (readers_[s]++ > 0 || is_free(s)) continue;
      // An inverter of what is there is the smallest cell.
      if (!is_input(s) && readers_[complement(s)] > 0 && !inverts_[complement(s)]) {
        inverts_[s] = true;
      } else if (inverts_[s] && !is_input(s)) {
        inverts_[complement(s)] = false;
      }
      area += own_area(s);
      push_inputs(s, waiting_);
    }
    return area;
  }

  void release(Code first) {
    waiting_.assign(1, first);
    while (!waiting_.empty()) {
      const Code s = waiting_.back();
      waiting_.pop_back();
      --visits_left_;
      if (--readers_[s] > 0 || is_free(s)) continue;
      push_inputs(s, waiting_);
    }
  }

  double retain_inputs(const Choice& choice) {
    double area = 0;
    for (std::size_t pin = 0; pin < choice.inputs(); ++pin) area += retain(choice.input(pin));
    return area;
  }

  void release_inputs(const Choice& choice) {
    for (std::size_t pin = choice.inputs(); pin-- > 0;) release(choice.input(pin));
  }

  /// The area that a cell adds.
  double area_of(const Choice& choice) {
    const double area = library_.cells[choice.cell()].area + retain_inputs(choice);
    release_inputs(choice);
    return area;
  }

  void recover_area() {
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      if (visits_left_ < 0) return;
      if (is_gate(nodes_[n]) && readers_[2 * n] + readers_[2 * n + 1] > 0) choose(n);
    }
  }

  /// Gives a signal the cell that adds the least area, and returns that area.
  double choose_cell(Code s) {
    double least = infinite;
    std::optional<Choice> best;
    for_each_choice(s, [&](const Choice& choice) {
      const double area = area_of(choice);
      // Sums of areas in another order differ by rounding.
      if (area >= least - 1e-9) return;
      least = area;
      best = choice;
    });
    if (best) choices_[s] = *best;
    return least;
  }

  void choose(std::uint32_t n) {
    const std::array<Code, 2> signals{2 * n, 2 * n + 1};
    std::array<int, 2> outside{};  // readers other than the inverter to the other polarity
    for (unsigned p = 0; p < 2; ++p) {
      const Code other = signals[1 - p];
      const bool is_inverted = readers_[other] > 0 && inverts_[other];
      outside[p] = readers_[signals[p]] - (is_inverted ? 1 : 0);
    }
    for (const Code s : signals) {
      if (readers_[s] > 0 && !inverts_[s]) release_inputs(choices_[s]);
    }
    for (const Code s : signals) readers_[s] = 0;
    std::array<double, 2> least{};
    for (unsigned p = 0; p < 2; ++p) least[p] = choose_cell(signals[p]);
    // With one cell and perhaps an inverter, or with a cell for each polarity.
    std::array<double, 2> alone{};
    for (unsigned p = 0; p < 2; ++p) {
      alone[p] = least[p] + (outside[1 - p] > 0 ? inverter_area_ : 0);
    }
    double both = infinite;
    if (outside[0] > 0 && outside[1] > 0 && least[0] < infinite && least[1] < infinite) {
      both = library_.cells[choices_[signals[0]].cell()].area + retain_inputs(choices_[signals[0]]);
      both += area_of(choices_[signals[1]]);
      release_inputs(choices_[signals[0]]);
    }
    const unsigned main = alone[0] <= alone[1] ? 0 : 1;
    const bool has_both = both < alone[main] - 1e-9;
    for (unsigned p = 0; p < 2; ++p) {
      const Code s = signals[p];
      inverts_[s] = p != main && !has_both;
      readers_[s] = outside[p];
    }
    const bool has_inverter = !has_both && outside[1 - main] > 0;
    if (has_inverter) ++readers_[signals[main]];
    for (const Code s : signals) {
      if (readers_[s] > 0 && !inverts_[s]) retain_inputs(choices_[s]);
    }
  }

  Net written_cell(CellCover& cover, Code s, const std::vector<Net>& nets) const {
    if (inverts_[s]) return added(cover, inverter_, {nets[complement(s)]});
    const Choice& choice = choices_[s];
    std::vector<Net> inputs;
    for (std::size_t pin = 0; pin < choice.inputs(); ++pin) {
      inputs.push_back(nets[choice.input(pin)]);
    }
    return added(cover, choice.cell(), inputs);
  }

  Net added(CellCover& cover, std::size_t cell, const std::vector<Net>& inputs) const {
    const std::uint64_t entries = std::uint64_t{1} << inputs.size();
    const std::uint64_t ones = (std::uint64_t{1} << entries) - 1;
    NetlistGate gate{.truth = library_.cells[cell].truth & ones,
                     .arity = static_cast<std::uint8_t>(inputs.size())};
    std::ranges::copy(inputs, gate.inputs.begin());
    cover.netlist.gates.push_back(gate);
    cover.cells.push_back(cell);
    return cover.netlist.gate(cover.netlist.gates.size() - 1);
  }

  Net constant(CellCover& cover, bool value) const {
    const SmallTruth truth = value ? 0xFFFF : 0;
    const std::size_t cell = library_.smallest(truth, 0).value_or(library_.cells.size());
    for (std::size_t g = 0; g < cover.cells.size(); ++g) {
      const NetlistGate& gate = cover.netlist.gates[g];
      if (gate.arity == 0 && gate.truth == (value ? 1U : 0U)) return cover.netlist.gate(g);
    }
    cover.netlist.gates.push_back({.truth = value ? 1U : 0U});
    cover.cells.push_back(cell);
    return cover.netlist.gate(cover.netlist.gates.size() - 1);
  }

  std::span<const BitLiteral> outputs_;
  const CellLibrary& library_;
  const CellMatches& matches_;
  const CellMappingParams& params_;
  std::span<const BitNode> nodes_;
  std::size_t inverter_;
  double inverter_area_;
  std::vector<std::size_t> cut_begins_;
  std::vector<SmallCut> cuts_;
  std::vector<Choice> choices_;   ///< by signal
  std::vector<bool> inverts_;     ///< by signal: an inverter of the other polarity, not a cell
  std::vector<double> flows_;     ///< by signal, per reader
  std::vector<double> expected_;  ///< readers by signal
  std::vector<int> readers_;      ///< by signal: cells in use and outputs
  std::vector<Code> waiting_;
  std::int64_t visits_left_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace

CellCover map_to_cells(const Netlist& netlist, const CellLibrary& library,
                       const CellMappingParams& params) {
  if (params.max_cuts < 2 || params.flow_rounds < 1) {
    fail("map_to_cells", "expected at least 2 cuts and 1 round, received {} and {}",
         params.max_cuts, params.flow_rounds);
  }
  const CellMatches matches(library);
  const Graph graph = graph_of(to_bit_circuit(netlist));
  const Graph conjunctions = with_conjunctions(graph);
  CellMapper expanded(conjunctions, library, matches, params);
  CellMapper compact(graph, library, matches, params);
  expanded.map();  // NANDs and inverters cover AND gates
  return compact.map() && compact.area() <= expanded.area() ? compact.written(netlist)
                                                            : expanded.written(netlist);
}

}  // namespace boolgrad::circuit
