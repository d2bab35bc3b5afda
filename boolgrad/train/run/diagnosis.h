// Layer by layer: how decided the gates of a model are, and how strong their training gradient is.
#pragma once

#include <vector>

#include "boolgrad/model/inspection.h"
#include "boolgrad/train/learners/learner.h"

namespace boolgrad {

struct LayerDiagnosis {
  LayerInspection inspection;
  double gradient_norm = 0;
};

/// The layers of what is trained as step `step` finds them: of a rule, those of perception first.
std::vector<LayerDiagnosis> diagnose(Learner& learner, std::int64_t step);

}  // namespace boolgrad
