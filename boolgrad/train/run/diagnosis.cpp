#include "boolgrad/train/run/diagnosis.h"

#include <cmath>
#include <memory>

#include "boolgrad/autograd/tape.h"

namespace boolgrad {

std::vector<double> gradient_norms(const Experiment& experiment, const Learner& learner,
                                   std::int64_t step) {
  // Another one, because a loss may use up what a learner keeps from step to step.
  const std::unique_ptr<Learner> copy = make_learner(experiment);
  TensorFile file = learner.to_file();
  learner.save_progress(file);
  copy->restore(file);
  copy->load_progress(file);
  copy->enter(step);
  std::vector<double> norms;
  for (const Tensor& gradient : grad(copy->loss(step), copy->parameters())) {
    double sum = 0;
    for (std::int64_t i = 0; i < gradient.size(); ++i) sum += gradient.at(i) * gradient.at(i);
    norms.push_back(std::sqrt(sum));
  }
  return norms;
}

std::vector<LayerDiagnosis> diagnose(const Experiment& experiment, const Learner& learner,
                                     std::int64_t step) {
  const std::vector<double> norms = gradient_norms(experiment, learner, step);
  const Inspection inspection = learner.inspect();
  std::vector<LayerDiagnosis> layers;
  for (std::size_t i = 0; i < norms.size(); ++i) {
    layers.push_back({inspection.layers[i], norms[i]});
  }
  return layers;
}

}  // namespace boolgrad
