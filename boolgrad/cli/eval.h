// Common parts of `boolgrad eval` for circuits, automata and classifiers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "boolgrad/cli/command.h"
#include "boolgrad/model/model.h"

#include "boolgrad/options/device.h"

namespace boolgrad::cli {

struct EvalArguments {
  std::string model;
  std::string task;                    ///< for circuits: the experiment whose task to evaluate on
  std::optional<std::int64_t> starts;  ///< for automata: fresh starts per scenario
  std::string data;        ///< for classifiers: other samples; empty: the experiment's test samples
  std::string confusion;   ///< path of the confusion matrix; empty: next to the model
  bool compiled = false;   ///< evaluate the exported C too
  bool simulated = false;  ///< simulate the exported Verilog
  bool simplifies = true;  ///< simplify the circuit of a classifier and count its gates
  Device device = {};
};

/// Evaluates an automaton and prints the result. The model must have an experiment.
void eval_automaton(const EvalArguments& arguments, const LoadedModel& loaded,
                    const CommonOptions& common);

/// Evaluates the circuit of a file on the task of an experiment.
void eval_circuit_file(const EvalArguments& arguments, const CommonOptions& common);

/// Evaluates a classifier on its test samples. The model must have an experiment.
void eval_classifier(const EvalArguments& arguments, const LoadedModel& loaded,
                     const CommonOptions& common);

}  // namespace boolgrad::cli
