// What an experiment asks of an NVIDIA GPU.
#pragma once

#include "boolgrad/backend/cuda/forms.h"
#include "boolgrad/backend/cuda/optimiser.h"
#include "boolgrad/train/experiment.h"

namespace boolgrad {

cuda::LossForm cuda_loss(LossKind kind);

/// Clipping, noise and AdamW.
cuda::OptimiserOptions cuda_optimiser(const Experiment& experiment);

}  // namespace boolgrad
