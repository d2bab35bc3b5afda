// Choices that host and kernels share.
#pragma once

#include "boolgrad/backend/device_forms.h"

namespace boolgrad::cuda {

using boolgrad::HardForm;
using boolgrad::LossForm;

}  // namespace boolgrad::cuda
