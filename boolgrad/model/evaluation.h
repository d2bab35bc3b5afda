// Evaluation of a model on its task, soft and hardened.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "boolgrad/data/automaton_task.h"
#include "boolgrad/data/boolean_task.h"
#include "boolgrad/data/data_set.h"
#include "boolgrad/model/model.h"
#include "boolgrad/model/tasks.h"
#include "boolgrad/options/device.h"
#include "boolgrad/options/head.h"
#include "boolgrad/options/loss.h"

namespace boolgrad {

/// Losses and accuracies of a model on its task.
struct Evaluation {
  // A case is a line of a truth table, a sample or, for automata, an evaluation start. Soft values
  // of automata use only as many starts as a training step.
  double soft_loss = 0;      ///< training loss: summed over all outputs; for samples, the mean
  double soft_accuracy = 0;  ///< share of cases whose rounded soft outputs are correct
  double hard_loss = 0;      ///< bit errors, misclassified samples, or mean squared error
  double hard_accuracy = 0;  ///< share of cases without error; for regression, explained variance
  double bit_accuracy = 0;   ///< share of correct output bits

  Tensor picture = {};  ///< for automata: a final soft state, [channels, 1, height, width]

  /// Whether the hardened model makes no error.
  bool solved() const { return hard_loss == 0; }
};

/// The cases of a Boolean task as floats: [inputs, cases] and [outputs, cases].
struct Cases {
  Tensor inputs;
  Tensor targets;

  Cases(const data::BooleanTask& task, DType dtype);
};

/// Predicted classes or values, one per sample, and the soft loss.
struct Predictions {
  std::vector<double> soft;
  std::vector<double> hard;
  double soft_loss = 0;  ///< the mean over samples
};

/// Evaluates predictions against labels.
Evaluation evaluation_of(const Predictions& predicted, const Head& head, const Tensor& labels);

/// What the accuracies of an evaluation are called: `accuracy`, or `explained variance` for values.
std::string_view accuracy_name(HeadKind head);

/// The confusion matrix: counts by [actual][predicted].
std::vector<std::vector<std::int64_t>> confusion(const std::vector<double>& predicted,
                                                 const Tensor& labels, std::int64_t classes);

/// Evaluates a circuit on all cases, on `device`.
Evaluation evaluate(const logic::Network& network, const Cases& cases, const LossOptions& loss,
                    const Device& device = {});

/// Predictions of a classifier, computed on `device`.
Predictions predict(const Model& model, const data::SampleSet& samples, const Device& device = {});

/// Evaluates a rule on the evaluation starts, on `device`.
Evaluation evaluate(const automata::Rule& rule, const ModelSpec& spec, const Device& device = {});

/// The size of training rollouts.
automata::RolloutSize rollout_size(const data::AutomatonTask& task,
                                   const AutomatonOptions& options);

}  // namespace boolgrad
