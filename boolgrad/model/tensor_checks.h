// Checks of the tensors that models and checkpoints are loaded from.
#pragma once

#include <string>
#include <string_view>

#include "boolgrad/tensor/safetensors.h"

namespace boolgrad {

/// Throws for values that no training has left, because they would be evaluated and exported
/// differently: those that are not finite, and masks of anything but zeros and ones. The message
/// opens with `[where] SOURCE: ` and names the tensor.
void check_tensors(const TensorFile& file, std::string_view where, const std::string& source);

}  // namespace boolgrad
