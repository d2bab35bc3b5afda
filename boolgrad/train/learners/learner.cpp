#include "boolgrad/train/learners/learner.h"

#include "boolgrad/train/learners/automaton_learner.h"
#include "boolgrad/train/learners/circuit_learner.h"
#include "boolgrad/train/learners/classifier_learner.h"

namespace boolgrad {
namespace {

/// Looks at the whole model each time.
class WholeTrials : public HardTrials {
 public:
  explicit WholeTrials(const Learner& learner)
      : learner_(learner), kept_(learner.hard_loss()), tried_(kept_) {}

  double wrong_bits() const override { return kept_; }
  double wrong_bits_with(std::size_t /*layer*/, std::int64_t /*gate*/,
                         std::uint64_t /*table*/) override {
    tried_ = learner_.hard_loss();
    return tried_;
  }
  void keep() override { kept_ = tried_; }

 private:
  const Learner& learner_;
  double kept_;
  double tried_;
};

}  // namespace

std::unique_ptr<HardTrials> Learner::trials() const { return std::make_unique<WholeTrials>(*this); }

std::unique_ptr<Learner> make_learner(const Experiment& experiment) {
  if (experiment.is_automaton()) return std::make_unique<AutomatonLearner>(experiment);
  if (experiment.is_classifier()) return std::make_unique<ClassifierLearner>(experiment);
  return std::make_unique<CircuitLearner>(experiment);
}

Experiment with_epochs_in_steps(Experiment experiment, const Learner& learner) {
  if (!experiment.is_classifier()) return experiment;
  TrainingOptions& training = experiment.training;
  if (training.epochs > 0) training.steps = training.epochs * learner.steps_per_epoch();
  training.epochs = 0;
  if (training.log_every == 0) training.log_every = learner.steps_per_epoch();
  return experiment;
}

}  // namespace boolgrad
