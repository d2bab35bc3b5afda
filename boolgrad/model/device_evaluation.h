// Evaluation of what device programs compute.
#pragma once

#include <cstdint>

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

/// Evaluates a rule on the evaluation starts. The program's grids must have the size given by the
/// specification.
Evaluation evaluate(DeviceAutomaton& program, const ModelSpec& spec,
                    const data::AutomatonTask& task);

}  // namespace boolgrad
