// A circuit that learns a Boolean task.
#pragma once

#include "boolgrad/data/boolean_task.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/train/learners/batch_order.h"
#include "boolgrad/train/learners/hardening.h"
#include "boolgrad/train/learners/learner.h"

namespace boolgrad {

class CircuitLearner : public Learner {
 public:
  explicit CircuitLearner(const Experiment& experiment);

  const LogicNetwork& network() const { return network_; }
  const Cases& cases() const { return cases_; }
  const Hardening& hardening() const { return hardening_; }

  /// Cases of a step, and which they are: none given stands for all of them in order.
  std::int64_t batch_size() const;
  std::vector<std::int64_t> picked(std::int64_t step);

  std::vector<Tensor> parameters() const override { return network_.parameters(); }
  Tensor loss(std::int64_t step) override;
  double rate_factor() const override { return hardening_.rate_factor(); }
  void observe(double loss) override;
  void save_progress(TensorFile& file) const override { hardening_.save(file); }
  void load_progress(const TensorFile& file) override { hardening_.load(file); }
  Evaluation evaluate() const override {
    return boolgrad::evaluate(network_, cases_, experiment_.training);
  }
  double hard_loss() const override;
  Parametrisation parametrisation() const override { return network_.parametrisation(); }
  std::vector<std::vector<bool>> active_gates() const override;
  Inspection inspect() const override { return boolgrad::inspect(network_); }
  TensorFile to_file() const override { return network_.to_file(); }
  void restore(const TensorFile& file) override { network_ = LogicNetwork::from_file(file); }
  void knock_out() override;
  std::int64_t masked() const override;
  std::int64_t steps_per_epoch() const override;

 private:
  CircuitLearner(const Experiment& experiment, const BooleanTask& task);

  struct Batch {
    Tensor inputs;
    Tensor targets;
  };
  Batch batch(std::int64_t step);

  Experiment experiment_;
  LogicNetwork network_;
  Cases cases_;
  BatchOrder order_;
  Hardening hardening_;
};

}  // namespace boolgrad
