// `boolgrad equal`: proves two circuits equal, or prints inputs for which they differ.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "boolgrad/circuit/formats/port_groups.h"
#include "boolgrad/cli/command.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/equality.h"

namespace boolgrad::cli {
namespace {

struct EqualArguments {
  std::string first;
  std::string second;
};

void print_report(const EqualArguments& arguments, const CircuitComparison& comparison) {
  const std::string how = comparison.matches_names ? "ports by name" : "ports by position";
  const std::string names =
      fmt::format("{} and {}", printable(arguments.first), printable(arguments.second));
  if (!comparison.difference) {
    fmt::print("{} are equal: {}, {}\n", names,
               comparison.is_exhaustive ? "all input combinations simulated" : "proven by SAT",
               how);
    return;
  }
  const CircuitDifference& difference = *comparison.difference;
  fmt::print("{} differ: {} is {} and {} for {} ({})\n", names, printable(difference.output),
             difference.first ? 1 : 0, difference.second ? 1 : 0,
             circuit::assignment_text(difference.inputs, difference.values), how);
}

nlohmann::json to_json(const EqualArguments& arguments, const CircuitComparison& comparison) {
  nlohmann::json answer = {{"first", arguments.first},
                           {"second", arguments.second},
                           {"equal", !comparison.difference},
                           {"inputs", comparison.inputs},
                           {"outputs", comparison.outputs},
                           {"matched_by", comparison.matches_names ? "name" : "position"},
                           {"method", comparison.is_exhaustive ? "simulation" : "sat"}};
  if (!comparison.difference) return answer;
  const CircuitDifference& difference = *comparison.difference;
  nlohmann::json values = nlohmann::json::object();
  for (std::size_t i = 0; i < difference.inputs.size(); ++i) {
    values[difference.inputs[i]] = difference.values[i] ? 1 : 0;
  }
  answer["counterexample"] = {{"inputs", std::move(values)},
                              {"output", difference.output},
                              {"values", {difference.first ? 1 : 0, difference.second ? 1 : 0}}};
  return answer;
}

int run(const EqualArguments& arguments, const CommonOptions& common) {
  const CircuitSource first = load_circuit(arguments.first);
  const CircuitSource second = load_circuit(arguments.second);
  const CircuitComparison comparison =
      compare_circuits(first, second, arguments.first, arguments.second);
  if (!common.quiet) print_report(arguments, comparison);
  if (common.json) print_json(to_json(arguments, comparison));
  return comparison.difference ? 1 : 0;
}

}  // namespace

void add_equal(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command = new_command(
      root, common, "equal", "Prove two circuits equal, or print inputs for which they differ.",
      "boolgrad equal runs/add-1 adder.v",
      "A and B are models, folders of runs, or circuits: netlist text, BLIF, AIGER, structural "
      "Verilog or an HTML viewer. Ports are matched by name if both have the same names, else by "
      "position. The exit code is 0 if the circuits are equal, and 1 if they differ.");
  const auto arguments = std::make_shared<EqualArguments>();
  command->add_option("first", arguments->first, "Model, folder of a run, or circuit")
      ->type_name("FILE_A")
      ->required();
  command->add_option("second", arguments->second, "Model, folder of a run, or circuit")
      ->type_name("FILE_B")
      ->required();
  command->callback([arguments, &common, &job] {
    job = [arguments, &common] { return run(*arguments, common); };
  });
}

}  // namespace boolgrad::cli
