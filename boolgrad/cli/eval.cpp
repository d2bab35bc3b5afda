// `boolgrad eval`: how good a model is at its task, soft and hardened.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boolgrad/cli/command.h"
#include "boolgrad/cli/eval.h"
#include "boolgrad/core/error.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/evaluation.h"
#include "boolgrad/model/model.h"
#include "boolgrad/model/tasks.h"

namespace boolgrad::cli {
namespace {

void check_fits(const LogicNetwork& network, const BooleanTask& task, const std::string& path) {
  if (network.inputs() != task.input_count() || network.outputs() != task.output_count()) {
    fail("eval", "{}: expected {} inputs and {} outputs as {} has, received {} and {}", path,
         task.input_count(), task.output_count(), task.name, network.inputs(), network.outputs());
  }
}

void eval_circuit(const EvalArguments& arguments, const LoadedModel& loaded,
                  const CommonOptions& common) {
  if (loaded.spec->is_automaton() || loaded.spec->is_classifier()) {
    fail("eval", "{}: expected the experiment of a circuit, received {}", arguments.model,
         to_string(loaded.spec->task.kind));
  }
  const BooleanTask task = make_task(*loaded.spec);
  check_fits(loaded.model.network(), task, arguments.model);
  const Cases cases(task, loaded.model.network().dtype());
  const Evaluation evaluation =
      evaluate(loaded.model.network(), cases, loaded.spec->loss, arguments.device);
  if (!common.quiet) {
    fmt::print("{} on {} cases of {}\n", printable(arguments.model), task.cases(),
               printable(task.name));
    fmt::print("  soft loss {:.6g}, accuracy {:.2f} %\n", evaluation.soft_loss,
               100 * evaluation.soft_accuracy);
    fmt::print("  hard loss {:.0f} wrong bits, accuracy {:.2f} % of cases, {:.2f} % of bits\n",
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
  constexpr std::int64_t most_grids = 4096;
  if (arguments.grids && (*arguments.grids < 1 || *arguments.grids > most_grids)) {
    throw UsageError(fmt::format("[eval] expected --grids from 1 to {}, received {}", most_grids,
                                 *arguments.grids));
  }
  check_device(arguments.device, on_gpus);
}

int run(const EvalArguments& arguments, const CommonOptions& common) {
  check_arguments(arguments);
  const LoadedModel loaded = load_model(arguments.model);
  if (!loaded.spec) {
    fail("eval", "{}: expected a model with its experiment, received one without", arguments.model);
  }
  const bool is_classifier = loaded.model.classifier().has_value() && loaded.spec->is_classifier();
  if (!is_classifier && (!arguments.data.empty() || !arguments.confusion.empty() ||
                         arguments.compiled || arguments.simulated || !arguments.simplifies)) {
    throw UsageError(fmt::format(
        "[eval] expected --data, --confusion, --compiled, --simulated and --no-simplify with a "
        "classifier, received {}",
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
      new_command(root, common, "eval", "Soft and hard loss and accuracy of a model on its task.",
                  "boolgrad eval runs/add-1/model.safetensors\n"
                  "  boolgrad eval runs/mnist-1/model.safetensors --compiled");
  const auto arguments = std::make_shared<EvalArguments>();
  command->add_option("model", arguments->model, "A model or a checkpoint")
      ->type_name("MODEL")
      ->required();
  command
      ->add_option("--grids", arguments->grids,
                   "Fresh starts in each scenario of an automaton, 32 by default; 1 where nothing "
                   "is left to chance")
      ->type_name("N");
  command
      ->add_option("--data", arguments->data,
                   "Samples to judge a classifier by, in place of the test that belongs to it")
      ->type_name("PATH");
  command
      ->add_option("--confusion", arguments->confusion,
                   "Where to draw how often a classifier takes each class for which; confusion.png "
                   "beside the model by default")
      ->type_name("PNG");
  command->add_flag("--compiled", arguments->compiled,
                    "Export a classifier as C, compile it with cc, and judge that too");
  command->add_flag("--simulated", arguments->simulated,
                    "Export a classifier as Verilog, simulate it with Icarus Verilog on the first "
                    "1,000 samples, and compare");
  command->add_flag("!--no-simplify", arguments->simplifies,
                    "Do not count the gates that are left of a classifier once simplified");
  add_device(*command, arguments->device);
  command->callback([arguments, &common, &job] {
    job = [arguments, &common] { return run(*arguments, common); };
  });
}

}  // namespace boolgrad::cli
