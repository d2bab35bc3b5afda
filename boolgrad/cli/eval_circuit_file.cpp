// The part of `boolgrad eval` for circuits without a model.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "boolgrad/circuit/formats/port_groups.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/cli/command.h"
#include "boolgrad/cli/eval.h"
#include "boolgrad/cli/experiment_file.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/circuit_evaluation.h"
#include "boolgrad/model/export.h"
#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad::cli {
namespace {

void print_report(const EvalArguments& arguments, const circuit::Netlist& netlist,
                  const CircuitEvaluation& evaluation) {
  fmt::print("{} on {} cases of {}, ports by {}\n", printable(arguments.model), evaluation.cases,
             printable(evaluation.task), evaluation.matches_names ? "name" : "position");
  fmt::print("  {} bit errors, accuracy {:.2f} % of cases, {:.2f} % of bits\n",
             evaluation.wrong_bits, 100 * evaluation.accuracy(), 100 * evaluation.bit_accuracy());
  if (const auto& wrong = evaluation.first_wrong) {
    fmt::print("  first error: {} is {}, expected {}, for {}\n", printable(wrong->output),
               wrong->expected ? 0 : 1, wrong->expected ? 1 : 0,
               circuit::assignment_text(wrong->inputs, wrong->values));
  }
  fmt::print("  {} gates, depth {}\n", circuit::gate_count(netlist), circuit::depth(netlist));
}

nlohmann::json to_json(const EvalArguments& arguments, const circuit::Netlist& netlist,
                       const CircuitEvaluation& evaluation) {
  nlohmann::json object = {{"circuit", arguments.model},
                           {"task", evaluation.task},
                           {"cases", evaluation.cases},
                           {"hard_loss", evaluation.wrong_bits},
                           {"hard_accuracy", evaluation.accuracy()},
                           {"bit_accuracy", evaluation.bit_accuracy()},
                           {"matched_by", evaluation.matches_names ? "name" : "position"},
                           {"gates", circuit::gate_count(netlist)},
                           {"depth", circuit::depth(netlist)}};
  if (const auto& wrong = evaluation.first_wrong) {
    nlohmann::json values = nlohmann::json::object();
    for (std::size_t i = 0; i < wrong->inputs.size(); ++i) {
      values[wrong->inputs[i]] = wrong->values[i] ? 1 : 0;
    }
    object["first_error"] = {{"inputs", std::move(values)},
                             {"output", wrong->output},
                             {"expected", wrong->expected ? 1 : 0}};
  }
  return object;
}

}  // namespace

void eval_circuit_file(const EvalArguments& arguments, const CommonOptions& common) {
  if (arguments.task.empty()) {
    throw UsageError(
        fmt::format("[eval] {} is a circuit: expected --task EXPERIMENT, such as add, "
                    "received none",
                    printable(arguments.model)));
  }
  if (arguments.starts || !arguments.data.empty() || !arguments.confusion.empty() ||
      arguments.compiled || arguments.simulated || !arguments.simplifies) {
    throw UsageError(
        fmt::format("[eval] --starts, --data, --confusion, --compiled, --simulated and "
                    "--no-simplify are for models, not for the circuit {}",
                    printable(arguments.model)));
  }
  const circuit::Netlist netlist = load_circuit(arguments.model).netlist;
  const train::Experiment experiment =
      train::read_experiment(experiment_file("eval", arguments.task));
  const CircuitEvaluation evaluation = evaluate_circuit(netlist, experiment, arguments.model);
  if (!common.quiet) print_report(arguments, netlist, evaluation);
  if (common.json) print_json(to_json(arguments, netlist, evaluation));
}

}  // namespace boolgrad::cli
