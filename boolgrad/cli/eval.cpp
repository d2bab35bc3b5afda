// `boolgrad eval`: evaluates a model on its task, soft and hardened.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boolgrad/cli/command.h"
#include "boolgrad/cli/eval.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/evaluation.h"
#include "boolgrad/model/export.h"
#include "boolgrad/model/model.h"
#include "boolgrad/model/tasks.h"

namespace boolgrad::cli {
namespace {

void check_fits(const logic::Network& network, const data::BooleanTask& task,
                const std::string& path) {
  if (network.inputs() != task.input_count() || network.outputs() != task.output_count()) {
    fail("eval", "{}: expected {} inputs and {} outputs for {}, received {} and {}", path,
         task.input_count(), task.output_count(), task.name, network.inputs(), network.outputs());
  }
}

void eval_circuit(const EvalArguments& arguments, const LoadedModel& loaded,
                  const CommonOptions& common) {
  if (loaded.spec->is_automaton() || loaded.spec->is_classifier()) {
    fail("eval", "{}: expected the experiment of a circuit, received {}", arguments.model,
         to_string(loaded.spec->task.kind));
  }
  const data::BooleanTask task = make_task(*loaded.spec);
  check_fits(loaded.model.network(), task, arguments.model);
  const Cases cases(task, loaded.model.network().dtype());
  const Evaluation evaluation =
      evaluate(loaded.model.network(), cases, loaded.spec->loss, arguments.device);
  if (!common.quiet) {
    fmt::print("{} on {} cases of {}\n", printable(arguments.model), task.cases(),
               printable(task.name));
    fmt::print("  soft loss {:.6g}, accuracy {:.2f} %\n", evaluation.soft_loss,
               100 * evaluation.soft_accuracy);
    fmt::print("  hard loss {:.0f} bit errors, accuracy {:.2f} % of cases, {:.2f} % of bits\n",
               evaluation.hard_loss, 100 * evaluation.hard_accuracy, 100 * evaluation.bit_accuracy);
  }
  if (common.json) {
    print_json({{"experiment", loaded.spec->name},
                {"cases", task.cases()},
                {"soft_loss", evaluation.soft_loss},
                {"soft_accuracy", evaluation.soft_accuracy},
                {"hard_loss", evaluation.hard_loss},
                {"hard_accuracy", evaluation.hard_accuracy},
                {"bit_accuracy", evaluation.bit_accuracy}});
  }
}

void check_arguments(const EvalArguments& arguments) {
  constexpr std::int64_t max_starts = 4096;
  if (arguments.starts && (*arguments.starts < 1 || *arguments.starts > max_starts)) {
    throw UsageError(fmt::format("[eval] expected --starts from 1 to {}, received {}", max_starts,
                                 *arguments.starts));
  }
  check_device(arguments.device, on_gpus);
}

int run(const EvalArguments& arguments, const CommonOptions& common) {
  check_arguments(arguments);
  if (is_circuit_file(arguments.model)) {
    eval_circuit_file(arguments, common);
    return 0;
  }
  if (!arguments.task.empty()) {
    throw UsageError(fmt::format("[eval] --task is for the file of a circuit, not for the model {}",
                                 printable(arguments.model)));
  }
  const LoadedModel loaded = load_model(arguments.model);
  if (!loaded.spec) {
    fail("eval", "{}: the model has no experiment to be evaluated on", arguments.model);
  }
  const bool is_classifier = loaded.model.classifier().has_value() && loaded.spec->is_classifier();
  if (!is_classifier && (!arguments.data.empty() || !arguments.confusion.empty() ||
                         arguments.compiled || arguments.simulated || !arguments.simplifies)) {
    throw UsageError(
        fmt::format("[eval] --data, --confusion, --compiled, --simulated and --no-simplify are for "
                    "classifiers, "
                    "not for {}",
                    printable(loaded.spec->name)));
  }
  if (is_classifier) eval_classifier(arguments, loaded, common);
  else if (loaded.model.is_automaton()) eval_automaton(arguments, loaded, common);
  else eval_circuit(arguments, loaded, common);
  return 0;
}

}  // namespace

void add_eval(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command =
      new_command(root, common, "eval", "Evaluate a model on its task, soft and hardened.",
                  "boolgrad eval runs/add-1/model.safetensors\n"
                  "  boolgrad eval runs/mnist-1/model.safetensors --compiled\n"
                  "  boolgrad eval adder.blif --task add",
                  "MODEL may be a circuit too, with --task: netlist text, BLIF, AIGER, structural "
                  "Verilog or an HTML viewer.");
  const auto arguments = std::make_shared<EvalArguments>();
  add_model(*command, arguments->model);
  command
      ->add_option(
          "--task", arguments->task,
          "Circuits: the experiment whose task to evaluate on; its Boolean function has as "
          "many bits as the circuit has inputs")
      ->type_name("EXPERIMENT");
  command
      ->add_option("--starts", arguments->starts,
                   "Automata: number of fresh starts per scenario; 32 by default, 1 if all starts "
                   "are equal")
      ->type_name("N");
  command
      ->add_option("--data", arguments->data,
                   "Classifiers: evaluate on these samples instead of the test samples")
      ->type_name("PATH");
  command
      ->add_option("--confusion", arguments->confusion,
                   "Classifiers: where to write the confusion matrix; confusion.png next to the "
                   "model by default")
      ->type_name("PNG");
  command->add_flag("--compiled", arguments->compiled,
                    "Classifiers: also evaluate the exported C, compiled with cc");
  command->add_flag("--simulated", arguments->simulated,
                    "Classifiers: simulate the exported Verilog with Icarus Verilog on the first "
                    "1,000 samples, and compare");
  command->add_flag("!--no-simplify", arguments->simplifies,
                    "Classifiers: do not simplify the circuit to count its gates");
  add_device(*command, arguments->device);
  command->callback([arguments, &common, &job] {
    job = [arguments, &common] { return run(*arguments, common); };
  });
}

}  // namespace boolgrad::cli
