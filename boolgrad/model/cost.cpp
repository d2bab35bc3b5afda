#include "boolgrad/model/cost.h"

#include <utility>

#include "boolgrad/circuit/cells/cell_mapping.h"
#include "boolgrad/circuit/cells/conjunctive_tables.h"
#include "boolgrad/circuit/encoder.h"
#include "boolgrad/circuit/group_sums.h"
#include "boolgrad/circuit/passes/covering.h"
#include "boolgrad/circuit/passes/mapping.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/passes/simplify_tables.h"
#include "boolgrad/circuit/proof/threshold_dont_cares.h"

namespace boolgrad {
namespace {

/// A circuit as two-input gates, as tables, which may be the smaller cover by LUTs, and in the form
/// that is mapped to cells.
struct Circuit {
  circuit::Netlist gates;
  circuit::Netlist tables;
  circuit::Netlist for_cells;

  Circuit(circuit::Netlist own_gates, circuit::Netlist own_tables)
      : gates(std::move(own_gates)),
        tables(std::move(own_tables)),
        for_cells(circuit::form_for_cells(tables, gates)) {}
};

using circuit::AddHead;

circuit::Netlist luts(const circuit::Netlist& netlist, int inputs) {
  return circuit::map_to_luts(netlist, {.inputs = inputs, .keeps_depth = false});
}

std::int64_t lut_count(const Circuit& circuit, const AddHead& add_head, int inputs) {
  return circuit::gate_count(
      circuit::cover_with_luts(circuit.tables, circuit.gates, inputs, add_head).netlist);
}

/// The cost of a netlist without that of its LUTs. `for_cells` is the form that is mapped. Adds its
/// cells to `cells`.
Cost gate_cost(const circuit::Netlist& netlist, const circuit::Netlist& for_cells,
               const circuit::CellLibrary& library, std::map<std::string, std::int64_t>& cells) {
  const circuit::Netlist gates = circuit::decompose(netlist);
  const circuit::CellCover cover = circuit::map_to_cells(for_cells, library);
  for (const std::size_t cell : cover.cells) {
    if (cell < library.cells.size()) ++cells[library.cells[cell].name];
  }
  return {.gates = circuit::gate_count(gates),
          .area = cover.area / library.nand2_area(),
          .depth = circuit::depth(gates)};
}

Cost operator+(const Cost& a, const Cost& b) {
  return {.gates = a.gates + b.gates,
          .lut4 = a.lut4 + b.lut4,
          .lut6 = a.lut6 + b.lut6,
          .area = a.area + b.area,
          .depth = a.depth + b.depth};
}

Cost operator-(const Cost& a, const Cost& b) {
  return {.gates = a.gates - b.gates,
          .lut4 = a.lut4 - b.lut4,
          .lut6 = a.lut6 - b.lut6,
          .area = a.area - b.area,
          .depth = a.depth - b.depth};
}

/// Moves what a part saves in the one before to that one: votes may not need all digits of sums.
void move_savings(Cost& part, Cost& before) {
  const auto move = [](auto& own, auto& other) {
    if (own >= 0) return;
    other += own;
    own = 0;
  };
  move(part.gates, before.gates);
  move(part.lut4, before.lut4);
  move(part.lut6, before.lut6);
  move(part.area, before.area);
  move(part.depth, before.depth);
}

/// The circuit without a head, with the sums of its groups, and with the whole head.
std::vector<std::pair<std::string, AddHead>> stages_of(const CircuitSource& source) {
  std::vector<std::pair<std::string, AddHead>> stages{
      {"logic", [](const circuit::Netlist& netlist) { return netlist; }}};
  if (!source.model || !source.model->model.classifier()) return stages;
  const Head& head = source.model->model.classifier()->head;
  stages.emplace_back("head", [&head](const circuit::Netlist& netlist) {
    return circuit::with_group_sums(netlist, head.groups(), head.exponents);
  });
  if (head.kind == HeadKind::regression) return stages;
  stages.emplace_back(
      head.has_votes() ? "votes" : "arg max",
      [&head](const circuit::Netlist& netlist) { return circuit::with_head(netlist, head); });
  return stages;
}

/// For a classifier, equal for the bits that its features can have.
Circuit simplified(const CircuitSource& source) {
  circuit::Netlist tables = circuit::with_own_tables(source.netlist);
  if (source.model && source.model->model.classifier()) {
    tables = circuit::with_own_tables(
        circuit::optimise_for_thresholds(tables, source.model->model.classifier()->thresholds));
  }
  circuit::Netlist gates = circuit::simplify(tables);
  return {std::move(gates), std::move(tables)};
}

CostPart encoder_part(const Classifier& classifier, const circuit::Netlist& circuit,
                      const circuit::CellLibrary& library, CostReport& report) {
  const circuit::Netlist encoder = circuit::simplify(
      classifier.has_bytes ? circuit::byte_encoder(classifier.thresholds, circuit)
                           : circuit::float_encoder(classifier.thresholds, circuit));
  Cost cost = gate_cost(encoder, encoder, library, report.cells);
  cost.lut4 = circuit::gate_count(luts(encoder, 4));
  cost.lut6 = circuit::gate_count(luts(encoder, 6));
  report.comparisons = std::ssize(encoder.outputs);
  return {"encoder", cost};
}

}  // namespace

CostReport cost_of(const CircuitSource& source, const circuit::CellLibrary& library,
                   bool as_trained) {
  CostReport report;
  const Circuit circuit = as_trained ? Circuit(source.netlist, source.netlist) : simplified(source);
  if (source.model && source.model->model.classifier()) {
    report.parts.push_back(
        encoder_part(*source.model->model.classifier(), circuit.gates, library, report));
    report.total = report.parts[0].cost;
  }
  Cost before;
  std::map<std::string, std::int64_t> cells;
  for (const auto& [name, add_head] : stages_of(source)) {
    cells.clear();  // only those of the whole circuit count
    Cost cost = gate_cost(add_head(circuit.gates), add_head(circuit.for_cells), library, cells);
    cost.lut4 = lut_count(circuit, add_head, 4);
    cost.lut6 = lut_count(circuit, add_head, 6);
    report.parts.push_back({name, cost - std::exchange(before, cost)});
    if (name != "logic") {
      move_savings(report.parts.back().cost, report.parts[report.parts.size() - 2].cost);
    }
  }
  for (const auto& [name, count] : cells) report.cells[name] += count;
  report.total = report.total + before;
  return report;
}

}  // namespace boolgrad
