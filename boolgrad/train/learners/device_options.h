// What an experiment asks of a device that is not the CPU.
#pragma once

#include "boolgrad/backend/options/loss.h"
#include "boolgrad/backend/options/adamw.h"
#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad {

/// Clipping, noise and AdamW.
AdamWOptions device_optimiser(const Experiment& experiment);

}  // namespace boolgrad
