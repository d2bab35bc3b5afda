// Arguments of the kernels for gate networks. Internal to `cuda/`.
//
// Activations are stored as one row of samples per feature, `stride` floats apart. The padding
// between the last sample and the next multiple of four is computed like a sample whose gradient is
// 0.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "boolgrad/backend/cuda/optimiser/arguments.h"
#include "boolgrad/backend/plan/network_layout.h"
#include "boolgrad/options/hardening.h"
#include "boolgrad/options/head.h"
#include "boolgrad/options/image_transform.h"
#include "boolgrad/options/loss.h"
#include "boolgrad/options/parametrisation.h"

namespace boolgrad::cuda {

using layout::InputBit;
using layout::PairGate;
using layout::PairInput;
using layout::PairReader;

/// Samples of each row that a block handles: four per lane of a warp.
constexpr int chunk_samples = 128;
/// Maximum samples per launch, from the maximum grid size.
constexpr int max_samples = 65535 * chunk_samples;

/// One use of an input: the gate, and which of its inputs it is.
struct GateReader {
  int gate, slot;
};

struct NetworkLayer {
  int inputs, gates, arity;
  bool pools;               ///< gates are maxima of their inputs
  int positions;            ///< consecutive gates that share a table
  std::size_t first_table;  ///< index among the tables of all layers
  std::size_t first_entry;  ///< offset in the coefficients and sums of the gates of all layers
  // Unless the layer is part of trees, for two-input gates with tables:
  const PairGate* pair_gates;    ///< [gates], in processing order
  const PairInput* pair_inputs;  ///< [pair_input_count], in processing order
  int pair_input_count;
  // For other gates:
  const int* first_reader;    ///< [inputs + 1]
  const GateReader* readers;  ///< [gates * arity]
  const int* source_rows;     ///< [gates, arity]
  const int* output_rows;     ///< [gates]
  const int* gradient_rows;   ///< [gates]: the same, or the row of the group if outputs are summed
  // For all gates:
  const int* sources;  ///< [gates, arity]: gates or inputs, not rows; others read 0
  int source_count;    ///< number of gates or inputs that `sources` refers to
};

/// Rows of one step, or of one part of an evaluation. The rows of a layer have fewer than 2^32
/// vectors.
struct RowShape {
  int samples, stride, vectors, chunks;
};

/// What changes in every step. A kernel that detects a non-finite value stores the step's stamp.
/// All kernels store the same number, so their order does not matter.
struct StepState {
  UpdateArguments factors;
  std::uint32_t stamp;
  float hard_share;         ///< hardness of the tables that the update leaves
  HardeningStep hardening;  ///< of the tables of this step, if a separate launch computes them
  float wire_scale;         ///< of the logits of learned wires: 1 / temperature
  float score_scale;        ///< of the sums of a head: 1 / temperature
};

struct StepOutcome {
  double loss;
  double sum_deviation;  ///< of the sums of a head, if the step computes it
  int finite;
};

/// Inputs of all samples.
struct SampleInputs {
  std::size_t samples;
  int inputs;
  const float* mask;          ///< [inputs]
  const float* rows;          ///< [inputs, samples]; null if inputs are thresholded features:
  const InputBit* bits;       ///< [inputs]
  const std::uint8_t* bytes;  ///< [samples, features], or null
  const float* floats;        ///< the same for features that are not bytes
  int features;
  int height, width;     ///< of images; 1 for other features, which are never transformed
  const float* offsets;  ///< [inputs]: learned threshold offsets, or null
  const float* ranges;   ///< [inputs]: scale of the offsets
};

/// The samples of a launch: `chosen`, or those from `first` on if that is null.
struct SampleChoice {
  const int* chosen;
  const ImageTransform* transforms;  ///< or null
  bool only_shifts;                  ///< whether all transforms are shifts
  std::size_t first;
};

struct LossArguments {
  bool has_head;  ///< else outputs have their own targets, and `kind` applies
  HeadKind head;
  LossKind kind;
  float gamma;
  int groups;
  float smoothing;            ///< label smoothing
  float low, per_range;       ///< regression: the lowest value, and 1 / (high - low)
  const float* targets;       ///< [outputs, data samples], or values [data samples]
  const int* labels;          ///< [data samples], for classes
  const float* soft_targets;  ///< [data samples, groups], or null
  float teacher_weight;       ///< of the soft targets
  int outputs;
  std::size_t samples;        ///< number of data samples
  const int* chosen;          ///< [samples], or null: the first ones
  int parts;                  ///< partial sums per group
  const float* scores;        ///< [groups, parts, stride]
  const float* largest_sums;  ///< [groups]
  float* sums;                ///< [groups, stride], or null: not wanted
  const StepState* state;
  std::uint32_t* not_finite;
};

/// From sums to gradients, and from gradients to updated parameters.
struct GateUpdate {
  std::size_t tables;       ///< of the layers updated together
  std::size_t first_table;  ///< the first of them, among all tables
  std::size_t first_entry;  ///< offset of their tables
  std::size_t first_logit;
  int arity;
  Parametrisation parametrisation;
  float factor;      ///< scale of all gradients
  float hard_share;  ///< hardness of coefficients computed without an update
  int chunks;
  std::size_t entries;  ///< of all layers together
  const float* sums;    ///< [chunks, entries]
  const float* masks;   ///< [tables] of all layers
  float* coefficients;  ///< [entries]
  float* logits;
  float* first;
  float* second;
  float* gradients;  ///< output if only gradients are wanted; else null
  const StepState* state;
  const std::uint32_t* not_finite;
  const double* losses;
  int loss_count;
  StepOutcome* result;
  float* loss;  ///< the loss as a float, on the device
  /// Whether the tables of the step are hardened according to `state->hardening`.
  bool hardens;
  const std::size_t* first_tables;  ///< [layers]
  int layers;
  const float* frozen;  ///< [tables] of all layers: 1 if the gate is frozen
};

// All of these launch on `stream` without waiting.
/// Gathers the rows of samples, transformed if transforms are given.
cudaError_t gather_samples(const SampleInputs& from, const SampleChoice& choice, RowShape rows,
                           float* x, cudaStream_t stream);

/// Gradients of the threshold offsets, from those of the inputs.
struct ThresholdBackward {
  SampleInputs from;
  SampleChoice choice;
  const float* g;     ///< [inputs, stride]
  float width_share;  ///< width of the sigmoid, relative to the range
  float factor;       ///< scale of all gradients
  float* gradients;   ///< [inputs]
  const StepState* state;
  std::uint32_t* not_finite;
};
cudaError_t threshold_gradients(const ThresholdBackward& arguments, RowShape rows,
                                cudaStream_t stream);

/// The update of parameters whose gradients are known: logits of wires, threshold offsets and
/// exponents of weights.
struct ParameterUpdate {
  std::size_t count;
  float* values;
  float* first;
  float* second;
  const float* gradients;
  const StepState* state;
  const std::uint32_t* not_finite;
};
/// Updates the parameters, unless something was not finite.
cudaError_t update_parameters(const ParameterUpdate& arguments, cudaStream_t stream);

cudaError_t layer_forward(const NetworkLayer& layer, const float* coefficients, const float* x,
                          RowShape rows, float* y, cudaStream_t stream);
/// Forward pass of a layer whose outputs are only summed, in `groups` groups of `parts` partial
/// sums.
cudaError_t layer_scores(const NetworkLayer& layer, const float* coefficients, const float* x,
                         RowShape rows, int groups, int parts, float* scores, cudaStream_t stream);
/// [groups, stride] from [groups, parts, stride].
cudaError_t add_score_parts(const float* scores, int groups, int parts, RowShape rows, float* sums,
                            cudaStream_t stream);
/// Partial losses, and the gradient of the loss.
cudaError_t loss_and_gradient(const LossArguments& arguments, const float* y, RowShape rows,
                              float* g, double* losses, int loss_count, cudaStream_t stream);
int loss_parts(const LossArguments& arguments, RowShape rows);
/// The standard deviation of sums [groups, stride].
cudaError_t deviation_of_sums(const float* sums, int groups, RowShape rows, StepOutcome* result,
                              cudaStream_t stream);

struct LayerBackward {
  NetworkLayer layer;
  const float* coefficients;
  const float* x;
  const float* g;
  float* gx;            ///< or null
  bool reads_slots;     ///< every input is read by one gate, in order, as with learned wires
  float* slot_scratch;  ///< [gates * arity, stride], unless gates have two inputs or read slots
  float* sums;          ///< [chunks, entries]
  std::size_t entries;
  const StepState* state;
  std::uint32_t* not_finite;
};
cudaError_t layer_backward(const LayerBackward& arguments, RowShape rows, cudaStream_t stream);

/// Coefficients from logits. `update.gradients` and the moments are not used.
cudaError_t make_coefficients(const GateUpdate& update, cudaStream_t stream);
cudaError_t update_gates(const GateUpdate& update, cudaStream_t stream);

// The hardened circuit on bits: rows of words with 32 samples each.
cudaError_t harden(const GateUpdate& update, std::uint64_t* tables, cudaStream_t stream);
cudaError_t hard_layer(const NetworkLayer& layer, const std::uint64_t* tables,
                       const std::uint32_t* x, std::size_t words, std::uint32_t* y,
                       cudaStream_t stream);
/// Packs rows that are `stride` floats apart into rows of `words` words.
cudaError_t pack_bits(const float* x, int features, std::size_t samples, std::size_t stride,
                      std::uint32_t* bits, std::size_t words, cudaStream_t stream);
/// Number of ones among the outputs of each group: [groups, 32 * words]. With weights [features],
/// ones count that often; `weights` may be null.
cudaError_t count_ones(const std::uint32_t* bits, const float* weights, int features, int groups,
                       std::size_t words, int* counts, cudaStream_t stream);

}  // namespace boolgrad::cuda
