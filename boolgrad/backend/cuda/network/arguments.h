// What the kernels of gate networks read. Inside of `cuda/`.
//
// Activations are rows of samples, one per feature. A row is as long as `stride` says, and what
// lies between the last sample and the next whole vector of four is computed like a sample whose
// gradient is 0.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "boolgrad/backend/cuda/optimiser/arguments.h"
#include "boolgrad/backend/options/hardening.h"
#include "boolgrad/backend/options/head.h"
#include "boolgrad/backend/options/image_shift.h"
#include "boolgrad/backend/options/loss.h"
#include "boolgrad/backend/options/parametrisation.h"
#include "boolgrad/backend/plan/network_layout.h"

namespace boolgrad::cuda {

using layout::InputBit;
using layout::PairGate;
using layout::PairInput;
using layout::PairReader;

/// Samples that a block handles of every row: four per lane of a warp.
constexpr int chunk_samples = 128;
/// Samples of one launch: as many as the chunks that a grid may have.
constexpr int max_samples = 65535 * chunk_samples;

/// A place where an input of any layer is read.
struct GateReader {
  int gate, slot;
};

struct NetworkLayer {
  int inputs, gates, arity;
  std::size_t first_gate;   ///< of all layers'
  std::size_t first_entry;  ///< of all layers' coefficients and sums
  // Of two-input gates:
  const PairGate* pair_gates;    ///< [gates], in the order in which they are taken
  const PairInput* pair_inputs;  ///< [pair_input_count], likewise
  int pair_input_count;
  // Of others:
  const int* first_reader;    ///< [inputs + 1]
  const GateReader* readers;  ///< [gates * arity]
  const int* source_rows;     ///< [gates, arity]
  const int* output_rows;     ///< [gates]
  const int* gradient_rows;   ///< [gates]: the same, or the group's where outputs are summed
  // Of all:
  const int* sources;  ///< [gates, arity]: gates or inputs, not rows
};

/// The rows of one step or of one part of an evaluation. All of a layer's are fewer than 2^32
/// vectors.
struct RowShape {
  int samples, stride, vectors, chunks;
};

/// What is new in every step. Where something is not finite, the kernel that sees it stores the
/// step's stamp in one place; all store the same number, so their order does not matter.
struct StepState {
  UpdateArguments factors;
  std::uint32_t stamp;
  float hard_share;         ///< of the tables that the update leaves
  HardeningStep hardening;  ///< of the tables that this step reads, where they get a launch
};

struct StepOutcome {
  double loss;
  int finite;
};

/// Where the inputs of all samples come from.
struct SampleInputs {
  std::size_t samples;
  int inputs;
  const float* mask;          ///< [inputs]
  const float* rows;          ///< [inputs, samples]; or null where inputs are bits of features:
  const InputBit* bits;       ///< [inputs]
  const std::uint8_t* bytes;  ///< [samples, features], or null
  const float* numbers;       ///< the same where features are no bytes
  int features;
  int height, width;     ///< of images; 1 where features are none, which are not shifted
  const float* offsets;  ///< [inputs]: what is learned of thresholds, or null
  const float* ranges;   ///< [inputs]: what offsets are multiplied by
};

/// The samples of a launch: `chosen` ones, or those from `first` on where that is null.
struct SampleChoice {
  const int* chosen;
  const ImageShift* shifts;  ///< or null
  std::size_t first;
};

struct LossArguments {
  bool has_head;  ///< else outputs have targets of their own, and `kind` counts
  HeadKind head;
  LossKind kind;
  float gamma;
  int groups;
  float scale;           ///< of the sums: 1 / temperature
  float smoothing;       ///< share of a label that goes to all classes alike
  float low, per_range;  ///< of a regression: the lowest value, and 1 / (high - low)
  const float* targets;  ///< [outputs, samples of the data], or values [samples of the data]
  const int* labels;     ///< [samples of the data], of classes
  int outputs;
  std::size_t samples;  ///< of the data
  const int* chosen;    ///< [samples], or null: the first ones
  int parts;            ///< of a group, that it is summed in
  const float* scores;  ///< [groups, parts, stride]
  const StepState* state;
  std::uint32_t* not_finite;
};

/// What turns sums into gradients, and gradients into an update.
struct GateUpdate {
  std::size_t gates;        ///< of the layers that are updated together
  std::size_t first_gate;   ///< the first of them, of all
  std::size_t first_entry;  ///< where their tables begin
  std::size_t first_logit;
  int arity;
  Parametrisation parametrisation;
  float factor;      ///< of all gradients
  float hard_share;  ///< of coefficients that are made without an update
  int chunks;
  std::size_t entries;  ///< of all layers together
  const float* sums;    ///< [chunks, entries]
  const float* masks;   ///< [gates] of all layers
  float* coefficients;  ///< [entries]
  float* logits;
  float* first;
  float* second;
  float* gradients;  ///< where only they are wanted; else null
  const StepState* state;
  const std::uint32_t* not_finite;
  const double* losses;
  int loss_count;
  StepOutcome* result;
  float* loss;  ///< the same as a float, on the device
  /// Whether the step's tables are those of `state->hardening`, which then says what is drawn for
  /// each gate of a layer.
  bool hardens;
  const std::size_t* first_gates;  ///< [layers]
  int layers;
  const float* frozen;  ///< [gates] of all layers: 1 where a gate is
};

// All of these launch on `stream` and wait for nothing.
/// Rows of the samples, shifted where shifts are given.
cudaError_t gather_samples(const SampleInputs& from, const SampleChoice& choice, RowShape rows,
                           float* x, cudaStream_t stream);

/// Gradients of the offsets of thresholds, from those of the inputs.
struct ThresholdBackward {
  SampleInputs from;
  SampleChoice choice;
  const float* g;     ///< [inputs, stride]
  float width_share;  ///< of a range: the width of the sigmoid
  float factor;       ///< of all gradients
  float* gradients;   ///< [inputs]
  const StepState* state;
  std::uint32_t* not_finite;
};
cudaError_t threshold_gradients(const ThresholdBackward& arguments, RowShape rows,
                                cudaStream_t stream);

struct ThresholdUpdate {
  int inputs;
  float* offsets;
  float* first;
  float* second;
  const float* gradients;
  const StepState* state;
  const std::uint32_t* not_finite;
};
cudaError_t update_thresholds(const ThresholdUpdate& arguments, cudaStream_t stream);

cudaError_t layer_forward(const NetworkLayer& layer, const float* coefficients, const float* x,
                          RowShape rows, float* y, cudaStream_t stream);
/// Forward of a layer whose outputs are only summed: `groups` groups of its gates, each in `parts`.
cudaError_t layer_scores(const NetworkLayer& layer, const float* coefficients, const float* x,
                         RowShape rows, int groups, int parts, float* scores, cudaStream_t stream);
/// [groups, stride] from [groups, parts, stride].
cudaError_t add_score_parts(const float* scores, int groups, int parts, RowShape rows, float* sums,
                            cudaStream_t stream);
/// Parts of the loss, and its gradient.
cudaError_t loss_and_gradient(const LossArguments& arguments, const float* y, RowShape rows,
                              float* g, double* losses, int loss_count, cudaStream_t stream);
int loss_parts(bool has_head, int outputs, RowShape rows);

struct LayerBackward {
  NetworkLayer layer;
  const float* coefficients;
  const float* x;
  const float* g;
  float* gx;            ///< or null
  float* slot_scratch;  ///< [gates * arity, stride] where gates have other than two inputs
  float* sums;          ///< [chunks, entries]
  std::size_t entries;
  const StepState* state;
  std::uint32_t* not_finite;
};
cudaError_t layer_backward(const LayerBackward& arguments, RowShape rows, cudaStream_t stream);

/// Coefficients from logits, where `update.gradients` and the moments play no part.
cudaError_t make_coefficients(const GateUpdate& update, cudaStream_t stream);
cudaError_t update_gates(const GateUpdate& update, cudaStream_t stream);

// The hardened circuit on bits: rows of words of 32 samples.
cudaError_t harden(const GateUpdate& update, std::uint64_t* tables, cudaStream_t stream);
cudaError_t hard_layer(const NetworkLayer& layer, const std::uint64_t* tables,
                       const std::uint32_t* x, std::size_t words, std::uint32_t* y,
                       cudaStream_t stream);
/// Bits of rows that lie `stride` apart, into rows that are `words` long.
cudaError_t pack_bits(const float* x, int features, std::size_t samples, std::size_t stride,
                      std::uint32_t* bits, std::size_t words, cudaStream_t stream);
/// How many outputs of each of `groups` groups are 1: [groups, 32 * words].
cudaError_t count_ones(const std::uint32_t* bits, int features, int groups, std::size_t words,
                       int* counts, cudaStream_t stream);

}  // namespace boolgrad::cuda
