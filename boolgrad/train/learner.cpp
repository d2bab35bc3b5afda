#include "boolgrad/train/learner.h"

#include "boolgrad/train/automaton_learner.h"
#include "boolgrad/train/circuit_learner.h"

namespace boolgrad {

std::unique_ptr<Learner> make_learner(const Experiment& experiment) {
  if (experiment.is_automaton()) return std::make_unique<AutomatonLearner>(experiment);
  return std::make_unique<CircuitLearner>(experiment);
}

}  // namespace boolgrad
