// `boolgrad cost`: gates, look-up tables and area of a circuit, by parts.
#include "boolgrad/model/cost.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "boolgrad/circuit/cells/cell_library.h"
#include "boolgrad/cli/command.h"
#include "boolgrad/cli/shipped.h"
#include "boolgrad/core/text.h"

namespace boolgrad::cli {
namespace {

struct CostArguments {
  std::string model;
  std::string library;
  bool as_trained = false;
};

std::string row(std::string_view name, const Cost& cost) {
  return fmt::format("  {:<10}{:>9}{:>9}{:>9}{:>12.2f}{:>8}\n", name, cost.gates, cost.lut4,
                     cost.lut6, cost.area, cost.depth);
}

std::string text_of(const CostArguments& arguments, const CostReport& report) {
  std::string text =
      fmt::format("{}\n  {:<10}{:>9}{:>9}{:>9}{:>12}{:>8}\n", printable(arguments.model), "part",
                  "gates", "LUT4", "LUT6", "GE", "depth");
  for (const CostPart& part : report.parts) text += row(part.name, part.cost);
  if (report.parts.size() > 1) text += row("total", report.total);
  if (report.parts[0].name == "encoder") {
    text += fmt::format("  {} comparisons of features with thresholds\n", report.comparisons);
  }
  return text;
}

nlohmann::json to_json(const Cost& cost) {
  return {{"gates", cost.gates},
          {"lut4", cost.lut4},
          {"lut6", cost.lut6},
          {"ge", cost.area},
          {"depth", cost.depth}};
}

nlohmann::json to_json(const CostArguments& arguments, const CostReport& report) {
  nlohmann::json object = to_json(report.total);
  object["model"] = arguments.model;
  object["library"] = arguments.library;
  for (const CostPart& part : report.parts) {
    nlohmann::json own = to_json(part.cost);
    own["name"] = part.name;
    object["parts"].push_back(std::move(own));
  }
  object["cells"] = report.cells;
  if (report.parts[0].name == "encoder") object["comparisons"] = report.comparisons;
  return object;
}

int run(CostArguments arguments, const CommonOptions& common) {
  if (arguments.library.empty()) {
    arguments.library = (shipped_folder("libraries") / "cells.genlib").string();
  }
  const circuit::CellLibrary library = circuit::read_cell_library(arguments.library);
  const CostReport report = cost_of(load_circuit(arguments.model), library, arguments.as_trained);
  if (library.left_out > 0) {
    const std::string notice =
        fmt::format("{}: {} latches and cells of more than {} inputs are not used",
                    printable(arguments.library), library.left_out, circuit::Cell::max_inputs);
    print_notices(std::array{notice}, common.quiet);
  }
  if (!common.quiet) fmt::print("{}", text_of(arguments, report));
  if (common.json) print_json(to_json(arguments, report));
  return 0;
}

}  // namespace

void add_cost(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command = new_command(
      root, common, "cost", "Count the gates, look-up tables and chip area of a circuit, by parts.",
      "boolgrad cost runs/mnist-1",
      "MODEL is a model, the folder of a run, or a circuit: netlist text, BLIF, AIGER, structural "
      "Verilog or an HTML viewer. Of a classifier, the comparison of features with thresholds and "
      "the head count as well; of an automaton, the rule of one cell.");
  const auto arguments = std::make_shared<CostArguments>();
  add_model(*command, arguments->model);
  command
      ->add_option("--library", arguments->library,
                   "Cells with their areas, in the genlib format of ABC; by default common cells "
                   "of a 130 nm library. The area is given in gate equivalents (GE), the area of a "
                   "two-input NAND")
      ->type_name("FILE");
  command->add_flag("--as-trained", arguments->as_trained, "Do not simplify the circuit");
  command->callback([arguments, &common, &job] {
    job = [arguments, &common] { return run(*arguments, common); };
  });
}

}  // namespace boolgrad::cli
