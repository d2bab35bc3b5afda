// The table of layer kinds.
#pragma once

#include <array>

#include "boolgrad/logic/layers/layer.h"

namespace boolgrad {

/// Every kind of layer that models are made of. docs/layers.md shows how to add one.
const std::array<const LayerKind*, 4>& layer_kinds();

}  // namespace boolgrad
