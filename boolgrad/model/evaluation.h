// How good a model is at its task, soft and hardened.
#pragma once

#include "boolgrad/backend/device/automaton.h"
#include "boolgrad/backend/device/network.h"
#include "boolgrad/data/automaton_task.h"
#include "boolgrad/data/boolean_task.h"
#include "boolgrad/data/data_set.h"
#include "boolgrad/model/model.h"
#include "boolgrad/model/tasks.h"

namespace boolgrad {

struct Evaluation {
  // A case is a line of a truth table, a sample or, of an automaton, a start that training did not
  // see. Soft figures of automata are those of as many starts as a training step has.
  double soft_loss = 0;      ///< the training loss: summed over all outputs, of samples the mean
  double soft_accuracy = 0;  ///< share of cases whose soft outputs are right
  double hard_loss = 0;      ///< wrong output bits, misclassified samples, or mean squared error
  double hard_accuracy = 0;  ///< share of cases that the hardened model gets right; of a regression
                             ///< the share of the variance that it explains
  double bit_accuracy = 0;   ///< share of output bits that it gets right

  Tensor picture =
      {};  ///< of automata: a state that the soft rule leads to, [channels, 1, height, width]

  bool solved() const { return hard_loss == 0; }
};

/// A Boolean task's cases as programs read them: float [inputs, cases] and [outputs, cases].
struct Cases {
  Tensor inputs;
  Tensor targets;

  Cases(const BooleanTask& task, DType dtype);
};

/// Of the outputs of all cases.
Evaluation evaluation_of(const NetworkScores& scores, const Cases& cases, const LossOptions& loss);

/// Predictions of samples, a class or a value each, and the loss of the soft ones.
struct Predictions {
  std::vector<double> soft;
  std::vector<double> hard;
  double soft_loss = 0;  ///< the mean over samples
};

/// Of the sums of a head's groups; `outputs` are those of the network.
Predictions predictions_of(const NetworkScores& scores, const Head& head, std::int64_t outputs,
                           const Tensor& labels);

Evaluation evaluation_of(const Predictions& predicted, const Head& head, const Tensor& labels);

/// How often samples of each class were predicted as each: [class][predicted as].
std::vector<std::vector<std::int64_t>> confusion(const std::vector<double>& predicted,
                                                 const Tensor& labels, std::int64_t classes);

/// How good a circuit is at all cases, computed on `device`.
Evaluation evaluate(const LogicNetwork& network, const Cases& cases, const LossOptions& loss,
                    const Device& device = {});

/// What a classifier predicts for samples, computed on `device`.
Predictions predict(const Model& model, const SampleSet& samples, const Device& device = {});

/// How a program is to read a classifier's samples; views of both, which must outlive it.
FeatureSamples feature_samples(const Classifier& classifier, const SampleSet& samples);

/// How good a rule is from starts that training did not see, computed by a program whose grids have
/// the size of the specification's.
Evaluation evaluate(DeviceAutomaton& program, const ModelSpec& spec, const AutomatonTask& task);

/// The same for a rule by itself.
Evaluation evaluate(const Rule& rule, const ModelSpec& spec, const Device& device = {});

/// The size of an automaton's training rollouts.
RolloutSize rollout_size(const AutomatonTask& task, const AutomatonOptions& options);

}  // namespace boolgrad
