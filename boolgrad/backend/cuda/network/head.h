// Kernels of heads whose outputs are stored before they are summed. Internal to `cuda/`.
//
// A last layer of ordinary gates sums its outputs itself. Outputs of convolutions, and outputs with
// weights, are rows in the order of the gates.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "boolgrad/backend/cuda/network/arguments.h"

namespace boolgrad::cuda {

// All of these launch on `stream` without waiting.

/// The outputs of a head, in groups of equal size.
struct HeadOutputs {
  int outputs, groups, parts;
  const float* weights;  ///< [outputs], or null: all outputs count once
};

/// Trained weights, as in `power_weights` of `logic/head.h`.
struct PowerWeights {
  int outputs, groups;
  const float* exponents;  ///< [outputs]
  float max_exponent;
  float* weights;       ///< [outputs]
  float* largest_sums;  ///< [groups]
};
/// Weights from exponents.
cudaError_t make_weights(const PowerWeights& arguments, cudaStream_t stream);

/// Sums of outputs: [groups, parts, stride].
cudaError_t sum_outputs(const HeadOutputs& head, const float* y, RowShape rows, float* scores,
                        cudaStream_t stream);

/// From the gradients of sums to those of outputs and of exponents. Without weights, only the first
/// three are used.
struct HeadBackward {
  HeadOutputs head;
  const float* of_sums;  ///< [groups, stride]
  float* g;              ///< [outputs, stride]
  PowerWeights trained;  ///< exponents are null if the weights are fixed
  float* gradients;      ///< [outputs], of exponents
  const float* y;        ///< [outputs, stride]
  // A weight changes the largest sum as well. Its derivative is that of the sum times (y - share),
  // where the share of a sample is `vote_share`, or sum / largest if `sums` is given.
  float vote_share;
  const float* sums;  ///< [groups, stride], or null
  const StepState* state;
  std::uint32_t* not_finite;
};
cudaError_t output_gradients(const HeadBackward& arguments, RowShape rows, cudaStream_t stream);

}  // namespace boolgrad::cuda
