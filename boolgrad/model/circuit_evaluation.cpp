#include "boolgrad/model/circuit_evaluation.h"

#include <utility>

#include "boolgrad/circuit/bits/runner.h"
#include "boolgrad/circuit/port_order.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"
#include "boolgrad/logic/lut.h"
#include "boolgrad/model/task_words.h"
#include "boolgrad/model/tasks.h"

namespace boolgrad {
namespace {

constexpr const char* where = "eval";

void check_fits(const circuit::Netlist& netlist, const data::BooleanTask& task,
                const std::string& name) {
  if (std::ssize(netlist.inputs) == task.input_count() &&
      std::ssize(netlist.outputs) == task.output_count()) {
    return;
  }
  fail(where, "{}: expected {} inputs and {} outputs for {}, received {} and {}", printable(name),
       task.input_count(), task.output_count(), printable(task.name), netlist.inputs.size(),
       netlist.outputs.size());
}

WrongCase wrong_case(const circuit::Netlist& netlist, const data::BooleanTask& task,
                     std::int64_t number, std::int64_t output) {
  WrongCase result{.inputs = netlist.inputs,
                   .values = {},
                   .output = netlist.outputs[static_cast<std::size_t>(output)],
                   .expected = task.targets.at(output * task.cases() + number) != 0};
  for (std::int64_t i = 0; i < task.input_count(); ++i) {
    result.values.push_back(task.inputs.at(i * task.cases() + number) != 0);
  }
  return result;
}

}  // namespace

CircuitEvaluation evaluate_circuit(const circuit::Netlist& netlist, ModelSpec spec,
                                   const std::string& name) {
  if (spec.is_automaton() || spec.is_classifier()) {
    fail(where, "{}: expected the experiment of a circuit, received {}", printable(name),
         to_string(spec.task.kind));
  }
  const bool has_operands = task_words(spec.task.kind) != nullptr;
  if (has_operands) spec.task.bits = std::ssize(netlist.inputs);
  const data::BooleanTask task = make_task(spec);
  check_fits(netlist, task, name);
  circuit::Netlist named = netlist;
  name_operands(named, spec.task.kind);
  const auto ordered =
      has_operands ? circuit::with_port_order(netlist, named.inputs, named.outputs) : std::nullopt;
  const circuit::Netlist& circuit = ordered ? *ordered : netlist;

  const Tensor outputs = logic::unpack_bits(
      circuit::CircuitRunner(circuit).run(logic::pack_bits(task.inputs)), DType::uint8);
  CircuitEvaluation result{.task = task.name,
                           .cases = task.cases(),
                           .outputs = task.output_count(),
                           .matches_names = ordered.has_value()};
  const auto received = outputs.values<std::uint8_t>();
  const auto wanted = task.targets.values<std::uint8_t>();
  for (std::int64_t number = 0; number < task.cases(); ++number) {
    bool is_wrong = false;
    for (std::int64_t o = 0; o < task.output_count(); ++o) {
      const auto at = static_cast<std::size_t>(o * task.cases() + number);
      if (received[at] == wanted[at]) continue;
      ++result.wrong_bits;
      if (!result.first_wrong) result.first_wrong = wrong_case(circuit, task, number, o);
      is_wrong = true;
    }
    if (is_wrong) ++result.wrong_cases;
  }
  return result;
}

}  // namespace boolgrad
