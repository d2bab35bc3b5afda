// Evaluation of circuits on Boolean tasks, without a model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/model/spec.h"

namespace boolgrad {

/// A case of a task for which a circuit is wrong.
struct WrongCase {
  std::vector<std::string> inputs;  ///< names, as the circuit calls them
  std::vector<bool> values;         ///< of the inputs
  std::string output;               ///< the first wrong one
  bool expected = false;            ///< what the task demands of it
};

struct CircuitEvaluation {
  std::string task;
  std::int64_t cases = 0;
  std::int64_t outputs = 0;
  std::int64_t wrong_cases = 0;
  std::int64_t wrong_bits = 0;
  bool matches_names = false;  ///< ports were matched by name, else by position
  std::optional<WrongCase> first_wrong = {};

  double accuracy() const {
    return static_cast<double>(cases - wrong_cases) / static_cast<double>(cases);
  }
  double bit_accuracy() const {
    const auto bits = static_cast<double>(cases * outputs);
    return (bits - static_cast<double>(wrong_bits)) / bits;
  }
};

/// Evaluates a circuit on all cases of a task. A Boolean function has as many bits as the circuit
/// has inputs, whatever the specification says. Ports are matched by the names of the task's
/// operands, else by position. Throws for tasks without truth tables, and for circuits with other
/// numbers of inputs or outputs. `name` names the circuit in messages.
CircuitEvaluation evaluate_circuit(const circuit::Netlist& netlist, ModelSpec spec,
                                   const std::string& name);

}  // namespace boolgrad
