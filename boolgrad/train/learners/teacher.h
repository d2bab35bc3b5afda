// Soft targets from a teacher (distillation).
#pragma once

#include "boolgrad/model/samples.h"
#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad::train {

/// The soft targets of the training samples: softmax(scores / temperature), float32 [samples,
/// classes]. The scores are in the file of `teacher`: float32 or float64, one row per sample of the
/// training file and one column per class.
Tensor soft_targets(const TeacherOptions& teacher, const TrainingSamples& samples);

}  // namespace boolgrad::train
