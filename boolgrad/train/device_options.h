// What an experiment asks of a device that is not the CPU.
#pragma once

#include "boolgrad/backend/device_forms.h"
#include "boolgrad/backend/optimiser_options.h"
#include "boolgrad/train/experiment.h"

namespace boolgrad {

LossForm device_loss(LossKind kind);

/// Clipping, noise and AdamW.
OptimiserOptions device_optimiser(const Experiment& experiment);

}  // namespace boolgrad
