// Kernels of learned wires. Internal to `cuda/`.
//
// Slot s is an input of a gate; candidate k of slot s has index s * count + k. Activations are rows
// of samples, as in arguments.h.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "boolgrad/backend/cuda/network/arguments.h"

namespace boolgrad::cuda {

/// The candidates of a layer and their logits.
struct WireLayer {
  int inputs, slots, count;
  const int* sources;    ///< [slots, count]: rows of the inputs; null if all inputs are candidates
  const int* first_use;  ///< [inputs + 1], into `uses`; null if all inputs are candidates
  const int* uses;       ///< candidates, by input
  const float* logits;   ///< [slots, count]
  int* chosen;           ///< [slots]: the source of the most probable candidate
  float* weights;        ///< [slots, count]: probabilities, if the forward pass is soft; else null
  float factor;          ///< scale of the gradients
};

// All of these launch on `stream` without waiting.

/// Chooses the most probable candidate of every slot, the first one on a tie.
cudaError_t choose_wires(const WireLayer& wires, cudaStream_t stream);
/// Computes the probabilities, for a soft forward pass. The temperature is that of the step.
cudaError_t weigh_wires(const WireLayer& wires, const StepState* state, cudaStream_t stream);

/// Fills the rows of all slots: those of the chosen sources, or mixtures if there are weights.
cudaError_t select_slots(const WireLayer& wires, const float* x, RowShape rows, float* slots,
                         cudaStream_t stream);

struct SelectionBackward {
  WireLayer wires;
  const float* x;
  const std::uint32_t* bits;  ///< x as packed bits, if it is 0 or 1 throughout; else null
  const float* g;             ///< gradients of the slots: [slots, stride]
  float* gx;                  ///< gradients of the inputs, or null
  float* gradients;           ///< of the logits
  const StepState* state;
  std::uint32_t* not_finite;
};
cudaError_t selection_backward(const SelectionBackward& arguments, RowShape rows,
                               cudaStream_t stream);

}  // namespace boolgrad::cuda
