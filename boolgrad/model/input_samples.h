// Inputs to run a circuit on where there are no data. Internal.
#pragma once

#include <cstdint>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// Circuits of at most so many inputs are run on all of them.
inline constexpr std::int64_t max_exhaustive_inputs = 12;

/// All inputs if there are at most 12, else `random_count` random ones: [inputs, samples].
Tensor input_samples(std::int64_t inputs, std::int64_t random_count, DType dtype);

}  // namespace boolgrad
