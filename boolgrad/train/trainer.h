// The training loop's inside: one step at a time, in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/data/boolean_task.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/optim/adamw.h"
#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/train/evaluation.h"
#include "boolgrad/train/experiment.h"

namespace boolgrad {

/// What one step saw.
struct StepResult {
  double loss = 0;
  /// Whether loss and gradients were finite. Where they were not, nothing was updated.
  bool finite = true;
};

/// A run as a value: everything is a function of the experiment and the number of steps taken.
class Trainer {
 public:
  Trainer(const Experiment& experiment, const BooleanTask& task);

  /// Takes the knockout, if it is due now, and then one step.
  StepResult step();

  /// Steps taken so far.
  std::int64_t steps() const { return optimiser_.state().step; }

  /// Whether the knockout comes before the next step.
  bool knockout_due() const { return steps() == experiment_.knockout_step(); }
  void take_knockout();

  /// The learning rate of the last step, or of the first where none was taken.
  double learning_rate() const;

  const Experiment& experiment() const { return experiment_; }
  const LogicNetwork& network() const { return network_; }
  Evaluation evaluate() const { return boolgrad::evaluate(network_, cases_, experiment_.training); }

  /// Network, moments and the number of steps, in memory of their own.
  TensorFile state() const;

  /// Continues from a state. Refuses that of another architecture; `source` opens the message.
  void restore(const TensorFile& state, const std::string& source);

 private:
  struct Batch {
    Tensor inputs;
    Tensor targets;
  };
  Batch batch();

  Experiment experiment_;
  LogicNetwork network_;
  Cases cases_;
  AdamW optimiser_;
  std::int64_t epoch_ = -1;  ///< the one that `order_` belongs to
  std::vector<std::int64_t> order_;
};

/// The order in which an epoch goes through `cases` cases.
std::vector<std::int64_t> epoch_order(std::int64_t cases, std::int64_t epoch, std::uint64_t seed);

/// Steps that go once through all cases.
std::int64_t steps_per_epoch(const Experiment& experiment, const BooleanTask& task);

}  // namespace boolgrad
