// An automaton that learns to reach a pattern.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "boolgrad/automata/bit_grid.h"
#include "boolgrad/automata/host_automaton.h"
#include "boolgrad/automata/rollout.h"
#include "boolgrad/data/automaton_task.h"
#include "boolgrad/train/learners/learner.h"

namespace boolgrad {

class AutomatonLearner final : public Learner {
 public:
  AutomatonLearner(const Experiment& experiment, const Device& device);

  void load(const AdamWState& moments) override;
  Evaluation evaluate() override;
  double hard_loss() const override;
  std::unique_ptr<HardTrials> trials() const override;
  void save_progress(TensorFile& file) const override;
  void load_progress(const TensorFile& file) override;
  void enter(std::int64_t step) override;

 private:
  /// Starts that training does not see, and which cells fire from there.
  struct Probe {
    RolloutSize size;
    BitGrid starts;
    std::vector<BitGrid> fire;
  };
  const Probe& probe() const;

  StepResult take_step(std::int64_t step, double learning_rate) override;
  std::vector<Tensor> gradients(std::int64_t step) override;
  DeviceAutomaton& program() const override { return *program_; }
  double loss_terms() const override;

  AutomatonSpec spec_for(const RolloutSize& size, const AutomatonTask& task) const;
  void make_program();
  AutomatonDraws draws(std::int64_t step);
  RolloutSize size() const { return rollout_size(stage_task_, stage_); }
  bool uses_pool() const { return experiment_.rollout.pool > 0; }
  bool trains_in_full() const;
  /// Fresh starts; in the second half of the batch, states of the pool instead.
  Tensor pool_starts(std::int64_t step);
  void return_to_pool();

  AutomatonOptions stage_;  ///< the sizes it trains on now
  AutomatonTask task_;
  AutomatonTask stage_task_;  ///< what it trains on now: the same, or a smaller one
  Memory memory_;
  std::unique_ptr<DeviceAutomaton> program_;
  std::unique_ptr<DeviceAutomaton>
      evaluator_;  ///< in full size, while training is on a smaller one
  std::vector<Tensor> frozen_;
  mutable std::optional<Probe> probe_;    ///< made when it is first asked for: drawing takes time
  Tensor pool_;                           ///< uint8 [channels, pool, height, width]
  std::vector<std::int64_t> pool_slots_;  ///< that the last step's grids came from
};

/// What the backward pass keeps on the CPU in the first step, and the size that it depends on.
struct TrainingMemory {
  Memory memory;
  RolloutSize size;
};
TrainingMemory training_memory(const Experiment& experiment, const Rule& rule);

}  // namespace boolgrad
