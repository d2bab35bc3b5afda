// Evaluation of what device programs compute.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/automata/bit_grid.h"
#include "boolgrad/automata/grid_errors.h"
#include "boolgrad/backend/device/automaton.h"
#include "boolgrad/backend/device/network.h"
#include "boolgrad/model/evaluation.h"

namespace boolgrad {

/// Evaluates the outputs of all cases.
Evaluation evaluation_of(const NetworkScores& scores, const Cases& cases, const LossOptions& loss);

/// Predictions from the group sums of a head. `outputs` is the number of outputs of the network.
Predictions predictions_of(const NetworkScores& scores, const Head& head, std::int64_t outputs,
                           const Tensor& labels);

/// Samples as a program reads them. The result refers to both arguments, which must outlive it.
FeatureSamples feature_samples(const Classifier& classifier, const data::SampleSet& samples);

/// The group sums of a classifier for samples, computed on `device`. They do not depend on labels.
NetworkScores scores_of(const Model& model, const data::SampleSet& samples, const Device& device);

/// The evaluation starts of an automaton, which training does not use, and their fire masks.
struct EvaluationStarts {
  automata::RolloutSize size;
  automata::BitGrid starts;
  std::vector<automata::BitGrid> fire;  ///< one per step; empty if all cells fire
};

EvaluationStarts evaluation_starts(const ModelSpec& spec, const data::AutomatonTask& task);

/// The errors of a hardened rule from these starts, in all states that should equal the target.
automata::GridErrors errors_from(const EvaluationStarts& starts, const automata::Rule& rule,
                                 const ModelSpec& spec, const data::AutomatonTask& task);

/// Puts errors into an evaluation.
void set_errors(Evaluation& evaluation, const automata::GridErrors& errors);

/// Evaluates a rule on the evaluation starts, the hardened one in the last state. The program's
/// grids must have the size given by the specification.
Evaluation evaluate(DeviceAutomaton& program, const ModelSpec& spec,
                    const data::AutomatonTask& task);

}  // namespace boolgrad
