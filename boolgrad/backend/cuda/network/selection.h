// Kernels of learned wires. Internal to `cuda/`.
//
// Slot s is an input of a gate; candidate k of slot s has index s * count + k. Slots of gates that
// share their tables share logits. Activations are rows of samples, as in arguments.h.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "boolgrad/backend/cuda/network/arguments.h"

namespace boolgrad::cuda {

/// The candidates of a layer and their logits.
struct WireLayer {
  int inputs;  ///< that are rows of the layer below; any other source reads 0
  int slots, count, arity;
  int positions;         ///< consecutive gates that share logits
  const int* sources;    ///< [slots, count]: rows of the inputs; null if all inputs are candidates
  const int* first_use;  ///< [inputs + 1], into `uses`; null if all inputs are candidates
  const int* uses;       ///< candidates, by input
  const float* logits;   ///< [logit slots, count]
  int* chosen;           ///< [slots]: the source of the most probable candidate
  float* weights;  ///< [logit slots, count]: probabilities, if the forward pass is soft; else null
  float factor;    ///< scale of the gradients

  __host__ __device__ int logit_slots() const { return slots / positions; }
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
  float* slot_sums;           ///< [slots, count] if slots share logits, else null
  const StepState* state;
  std::uint32_t* not_finite;
};
cudaError_t selection_backward(const SelectionBackward& arguments, RowShape rows,
                               cudaStream_t stream);

}  // namespace boolgrad::cuda
