// A circuit that learns from samples.
#pragma once

#include "boolgrad/train/learners/batch_order.h"
#include "boolgrad/model/classifier.h"
#include "boolgrad/train/learners/hardening.h"
#include "boolgrad/train/learners/learner.h"
#include "boolgrad/train/learners/image_shifts.h"
#include "boolgrad/model/samples.h"

namespace boolgrad {

class ClassifierLearner : public Learner {
 public:
  explicit ClassifierLearner(const Experiment& experiment);

  const LogicNetwork& network() const { return network_; }
  const TrainingSamples& samples() const { return samples_; }
  const Hardening& hardening() const { return hardening_; }
  /// With the levels as they are now.
  Classifier classifier() const;

  /// The samples that training is judged by: the validation's or, where there are none, all that
  /// are learned from.
  const SampleSet& judged() const;

  std::int64_t batch_size() const;
  /// The samples of a step.
  std::vector<std::int64_t> picked(std::int64_t step) { return order_.picked(step); }
  /// How they are moved; none where they are not.
  std::vector<ImageShift> moves(std::int64_t step) const;

  std::vector<Tensor> parameters() const override;
  Tensor loss(std::int64_t step) override;
  double rate_factor() const override { return hardening_.rate_factor(); }
  void observe(double loss) override { hardening_.observe(loss); }
  void save_progress(TensorFile& file) const override { hardening_.save(file); }
  void load_progress(const TensorFile& file) override { hardening_.load(file); }
  Evaluation evaluate() const override;
  double hard_loss() const override { return evaluate().hard_loss; }
  Parametrisation parametrisation() const override { return network_.parametrisation(); }
  std::vector<std::vector<bool>> active_gates() const override;
  Inspection inspect() const override { return boolgrad::inspect(network_); }
  TensorFile to_file() const override;
  void restore(const TensorFile& file) override;
  void knock_out() override;
  std::int64_t masked() const override;
  std::int64_t steps_per_epoch() const override;

 private:
  Tensor batch_inputs(std::int64_t step, const std::vector<std::int64_t>& picked) const;
  Tensor levels() const;

  Experiment experiment_;
  TrainingSamples samples_;
  Thresholds initial_;  ///< where levels start from
  Tensor rows_;         ///< bits of the training samples as bytes, where they stay what they are
  // Levels that are learned are places + heights * ranges, so that a step is as far for all.
  Tensor heights_, places_, ranges_;
  Head head_;
  LogicNetwork network_;
  BatchOrder order_;
  Hardening hardening_;
};

}  // namespace boolgrad
