// Steps of classifiers on an NVIDIA GPU, which holds the bits of all samples, the parameters and
// their moments.
#pragma once

#include "boolgrad/backend/cuda/network.h"
#include "boolgrad/train/classifier_learner.h"
#include "boolgrad/train/engine.h"

namespace boolgrad {

/// Offers heads of classes with fixed levels and samples as they are; refuses the rest.
class CudaClassifierEngine : public Engine {
 public:
  CudaClassifierEngine(const Experiment& experiment, ClassifierLearner& learner);

  StepResult step(std::int64_t step, double learning_rate) override;
  void settle() override;
  AdamWState moments() const override;
  void restore(const AdamWState& moments) override;
  Evaluation evaluate() const override;

 private:
  ClassifierLearner& learner_;
  std::unique_ptr<cuda::Network> network_;  ///< with the samples to learn from
  std::unique_ptr<cuda::Network> judge_;    ///< with those that training is judged by
  std::int64_t steps_ = 0;                  ///< that the moments have seen
  bool is_settled_ = true;  ///< whether the learner's parameters are those of the device
};

}  // namespace boolgrad
