#include "boolgrad/train/run/diagnosis.h"

#include "boolgrad/train/learners/learner.h"

namespace boolgrad::train {

std::vector<LayerDiagnosis> diagnose(Learner& learner, std::int64_t step) {
  const std::vector<double> norms = learner.gradient_norms(step);
  const Inspection inspection = learner.model().inspect();
  std::vector<LayerDiagnosis> layers;
  for (std::size_t i = 0; i < inspection.layers.size(); ++i) {
    layers.push_back({inspection.layers[i], norms[i]});
  }
  return layers;
}

}  // namespace boolgrad::train
