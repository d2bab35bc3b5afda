// The table of layer kinds.
#pragma once

#include <array>

#include "boolgrad/logic/layers/layer.h"

namespace boolgrad {

/// All layer kinds.
const std::array<const logic::LayerKind*, 6>& layer_kinds();

}  // namespace boolgrad
