// An automaton that learns to reach a pattern.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "boolgrad/automata/bit_grid.h"
#include "boolgrad/automata/host_automaton.h"
#include "boolgrad/automata/rollout.h"
#include "boolgrad/data/automaton_task.h"
#include "boolgrad/model/device_evaluation.h"
#include "boolgrad/train/learners/batch_order.h"
#include "boolgrad/train/learners/learner.h"

namespace boolgrad::train {

class AutomatonLearner final : public Learner {
 public:
  AutomatonLearner(const Experiment& experiment, const Device& device,
                   Group& group = single_process());

  void load(const AdamWState& moments) override;
  Evaluation evaluate() override;
  double hard_loss() const override;
  std::unique_ptr<MoveEvaluator> move_evaluator() const override;
  void save_progress(TensorFile& file) const override;
  void load_progress(const TensorFile& file) override;
  void enter(std::int64_t step) override;

 private:
  const EvaluationStarts& starts() const;
  /// The errors of the model in all states that should equal the target.
  automata::GridErrors hard_errors() const;
  /// Evaluates the program's parameters, hardened in the last state only.
  Evaluation evaluate_program();

  StepResult take_step(std::int64_t step, double learning_rate) override;
  std::vector<Tensor> gradients(std::int64_t step) override;
  DeviceAutomaton& program() const override { return *program_; }
  double loss_terms() const override;

  automata::AutomatonSpec spec_for(const automata::RolloutSize& size,
                                   const data::AutomatonTask& task) const;
  void make_program();
  RolloutArguments draws(std::int64_t step);
  automata::RolloutSize size() const { return rollout_size(stage_task_, stage_); }
  bool uses_pool() const { return experiment_.rollout.pool > 0; }
  bool trains_in_full() const;
  /// The states that enter the loss: those after the last steps, and those in which a pattern
  /// should stay.
  std::int64_t loss_steps() const {
    return experiment_.rollout.loss_steps + experiment_.automaton.stay_steps;
  }
  /// Whether a step has only some of the tori of a rule.
  bool samples_tori() const {
    return stage_task_.starts.defined() && stage_task_.batch < stage_task_.starts.shape()[1];
  }
  /// Starts and targets of a step, in a random order through all of them.
  AutomatonInputs sampled_tori(std::int64_t step);
  /// Fresh starts for the first half of the batch, states of the pool for the second.
  Tensor pool_starts(std::int64_t step);
  void return_to_pool();

  AutomatonOptions stage_;  ///< sizes of the present stage of the curriculum
  data::AutomatonTask task_;
  data::AutomatonTask stage_task_;  ///< task of the present stage
  Memory memory_;
  std::unique_ptr<DeviceAutomaton> program_;
  std::unique_ptr<DeviceAutomaton> evaluator_;  ///< full size, while a stage has other sizes
  std::vector<Tensor> frozen_;
  mutable std::optional<EvaluationStarts> evaluation_starts_;  ///< made on first use
  std::optional<BatchOrder> tori_;        ///< the order of sampled tori; made on first use
  Tensor pool_;                           ///< uint8 [channels, pool, height, width]
  std::vector<std::int64_t> pool_slots_;  ///< slots that the grids of the last step return to
};

/// Memory policy of the backward pass on the CPU in the first step, and the rollout's size.
struct TrainingMemory {
  Memory memory;
  automata::RolloutSize size;
};
TrainingMemory training_memory(const Experiment& experiment, const automata::Rule& rule);

}  // namespace boolgrad::train
