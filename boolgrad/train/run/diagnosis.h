// Layer by layer: how decided the gates of a model are, and how training pulls at them.
#pragma once

#include <vector>

#include "boolgrad/train/experiment/experiment.h"
#include "boolgrad/model/inspection.h"
#include "boolgrad/train/learners/learner.h"

namespace boolgrad {

/// The norm of the gradient of the training loss of step `step` for each layer's parameters. The
/// learner stays as it is, and so does what it has gathered.
std::vector<double> gradient_norms(const Experiment& experiment, const Learner& learner,
                                   std::int64_t step);

struct LayerDiagnosis {
  LayerInspection inspection;
  double gradient_norm = 0;
};

/// The layers of what is trained: of a rule, those of perception first.
std::vector<LayerDiagnosis> diagnose(const Experiment& experiment, const Learner& learner,
                                     std::int64_t step);

}  // namespace boolgrad
