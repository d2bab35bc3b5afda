// Kernels of heads whose outputs are stored before they are summed. Internal to `cuda/`.
//
// A last layer of ordinary gates sums its outputs itself. Outputs of convolutions, and outputs with
// weights, are rows in the order of the gates.
#pragma once

#include <cuda_runtime.h>

#include "boolgrad/backend/cuda/network/arguments.h"

namespace boolgrad::cuda {

// All of these launch on `stream` without waiting.

/// The outputs of a head, in groups of equal size.
struct HeadOutputs {
  int outputs, groups, parts;
};

/// Sums of outputs: [groups, parts, stride].
cudaError_t sum_outputs(const HeadOutputs& head, const float* y, RowShape rows, float* scores,
                        cudaStream_t stream);
/// Gradients of outputs [outputs, stride] from those of the sums [groups, stride].
cudaError_t output_gradients(const HeadOutputs& head, const float* of_sums, RowShape rows, float* g,
                             cudaStream_t stream);

}  // namespace boolgrad::cuda
