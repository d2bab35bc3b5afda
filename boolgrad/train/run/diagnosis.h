// Per-layer diagnostics: how close gates are to hard ones, and the norm of the training gradient.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/model/inspection.h"

namespace boolgrad::train {

class Learner;

/// The state of one layer during training.
struct LayerDiagnosis {
  LayerInspection inspection;
  double gradient_norm = 0;
};

/// Diagnoses the layers before step `step`. For a rule, the layers of perception come first.
std::vector<LayerDiagnosis> diagnose(Learner& learner, std::int64_t step);

}  // namespace boolgrad::train
