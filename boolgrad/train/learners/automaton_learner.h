// An automaton that learns to reach a pattern.
#pragma once

#include <optional>
#include <vector>

#include "boolgrad/automata/bit_grid.h"
#include "boolgrad/automata/rollout.h"
#include "boolgrad/automata/rule.h"
#include "boolgrad/data/automaton_task.h"
#include "boolgrad/model/automaton_evaluation.h"
#include "boolgrad/train/learners/hardening.h"
#include "boolgrad/train/learners/learner.h"

namespace boolgrad {

class AutomatonLearner : public Learner {
 public:
  explicit AutomatonLearner(const Experiment& experiment);

  const Rule& rule() const { return rule_; }
  /// What it is judged by.
  const AutomatonTask& task() const { return task_; }
  /// What it trains on now: the same, or a smaller one in a curriculum.
  const AutomatonTask& training_task() const { return stage_task_; }
  /// What the backward keeps, and the sizes that it depends on.
  const Memory& memory() const { return memory_; }
  RolloutSize size() const;
  const Hardening& hardening() const { return hardening_; }

  bool enter(std::int64_t step) override;
  bool trains_in_full() const override;

  std::vector<Tensor> parameters() const override { return rule_.parameters(); }
  Tensor loss(std::int64_t step) override;
  Evaluation evaluate() const override;
  double hard_loss() const override;
  std::unique_ptr<HardTrials> trials() const override;
  Parametrisation parametrisation() const override { return rule_.update().parametrisation(); }
  std::vector<std::vector<bool>> active_gates() const override;
  Inspection inspect() const override { return boolgrad::inspect(rule_); }
  TensorFile to_file() const override { return rule_.to_file(); }
  void restore(const TensorFile& file) override { rule_ = Rule::from_file(file); }
  double rate_factor() const override { return hardening_.rate_factor(); }
  void observe(double loss) override;
  void save_progress(TensorFile& file) const override;
  void load_progress(const TensorFile& file) override;
  void knock_out() override {}
  std::int64_t masked() const override { return 0; }
  std::int64_t steps_per_epoch() const override { return 1; }

 private:
  /// What it is judged on: starts and who fires from there.
  struct Probe {
    RolloutSize size;
    Tensor soft_starts;  ///< of a few, as a rollout takes them
    Tensor soft_fire;
    BitGrid starts;  ///< of all
    std::vector<BitGrid> fire;
  };
  Probe make_probe() const;
  const Probe& probe() const;
  GridMistakes hard_mistakes(const Probe& probe) const;

  Tensor loss_at(const Tensor& states, const AutomatonTask& task) const;
  std::vector<Tensor> step_tables(std::uint64_t seed, std::uint32_t draw) const;
  Tensor step_starts(const RolloutSize& size, std::uint64_t seed, std::uint32_t draw);
  void return_to_pool(const Tensor& states);
  bool uses_pool() const { return experiment_.automaton.pool > 0; }

  Experiment experiment_;
  AutomatonOptions stage_;  ///< the sizes it trains on now
  AutomatonTask task_;
  AutomatonTask stage_task_;
  Rule rule_;
  Memory memory_;
  Hardening hardening_;
  mutable std::optional<Probe> probe_;  ///< made when it is first asked for: drawing takes time
  Tensor pool_;                         ///< uint8 [channels, pool, height, width]
  std::vector<std::int64_t> drawn_;     ///< places in it that the last step's grids came from
};

}  // namespace boolgrad
