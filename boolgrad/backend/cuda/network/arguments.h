// What the kernels of gate networks read. Inside of `cuda/`.
//
// Activations are rows of samples, one a feature. A row is as long as `stride` says, and what lies
// between the last sample and the next whole vector of four is computed like a sample whose
// gradient is 0.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "boolgrad/backend/options/loss.h"
#include "boolgrad/backend/cuda/optimiser/arguments.h"
#include "boolgrad/backend/options/image_shift.h"
#include "boolgrad/backend/options/parametrisation.h"

namespace boolgrad::cuda {

/// Samples that a block handles of every row: four a lane of a warp.
constexpr int chunk_samples = 128;
/// Samples of one launch: as many as the chunks that a grid may have.
constexpr int most_samples = 65535 * chunk_samples;

// The rows of a layer's outputs lie in the order in which the next layer's walk reads them, so that
// memory is read from one end to the other. Wires name rows, parameters gates.

/// A two-input gate, in the order in which a layer is walked through.
struct alignas(16) PairGate {
  int gate, row;  ///< of its parameters, and of its output
  int a, b;       ///< rows that it reads
};

/// A gate that reads an input.
struct PairReader {
  int gate;
  int partner;  ///< the row that it reads beside the input's
  int g;        ///< the row of its output's gradient
};

/// An input of a layer of two-input gates and two of its readers. Where there are more, entries
/// that continue this one follow; in place of one that is not there stands one that reads the input
/// second and has a row of zeros as its gradient.
struct alignas(16) PairInput {
  int row, flags;
  PairReader first, second;
};
constexpr int first_reads_second = 1;   ///< the first reader reads it as its second input
constexpr int second_reads_second = 2;  ///< so does the second reader
constexpr int continues = 4;            ///< the entry before
constexpr int ends = 8;                 ///< no entry continues this one

/// A place where an input of any layer is read.
struct GateReader {
  int gate, slot;
};

struct NetworkLayer {
  int inputs, gates, arity;
  std::size_t first_gate;   ///< of all layers'
  std::size_t first_entry;  ///< of all layers' coefficients and sums
  // Of two-input gates:
  const PairGate* pair_gates;    ///< [gates], along a walk
  const PairInput* pair_inputs;  ///< [pair_input_count], along it too
  int pair_input_count;
  // Of others:
  const int* first_reader;    ///< [inputs + 1]
  const GateReader* readers;  ///< [gates * arity]
  const int* sources;         ///< [gates, arity], of all: gates or inputs, not rows
  const int* source_rows;     ///< the same as rows
  const int* output_rows;     ///< [gates]
};

/// The rows of one step or of one part of an evaluation. All of a layer's are fewer than 2^32
/// vectors.
struct Rows {
  int samples, stride, vectors, chunks;
};

/// What is new in every step. Where something is not finite, whoever sees it stores the step's
/// stamp in one place; all store the same number, so their order does not matter.
struct StepState {
  UpdateArguments factors;
  std::uint32_t stamp;
  float hard_share;  ///< of the tables that the update leaves
};

struct StepOutcome {
  double loss;
  int finite;
};

/// An input that is 1 where a feature is above a level. Of pictures, the feature is the pixel
/// (x, y).
struct alignas(16) InputBit {
  int feature, x, y;
  float level;
};

/// Where the inputs of all cases come from.
struct CaseInputs {
  std::size_t cases;
  int inputs;
  const float* mask;          ///< [inputs]
  const float* rows;          ///< [inputs, cases]; or null where inputs are bits of samples:
  const InputBit* bits;       ///< [inputs]
  const std::uint8_t* bytes;  ///< [cases, features], or null
  const float* numbers;       ///< the same where features are no bytes
  int features;
  int height, width;  ///< of pictures; 1 where features are none, which are not moved
};

struct LossCode {
  bool has_classes;  ///< else outputs have targets of their own, and the form counts
  LossKind form;
  float gamma;
  int classes;
  float scale;           ///< of the sums that are class scores: 1 / temperature
  const float* targets;  ///< [outputs, cases]
  const int* labels;     ///< [cases], of classes
  int outputs;
  std::size_t cases;    ///< of the data
  const int* picked;    ///< [samples], or null: all in order
  std::size_t first;    ///< case that the first sample is, where they are in order
  int mean_over;        ///< samples that the mean of classes is taken over
  int parts;            ///< of a class, that scores are summed in
  const float* scores;  ///< [classes, parts, stride]
  const StepState* state;
  std::uint32_t* not_finite;  ///< or null
  float smoothing;            ///< share of a label that goes to all classes alike
  int* predicted;             ///< [samples]: the class of the largest score; or null
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
};

// All of these launch on `stream` and wait for nothing.
/// Rows of the cases picked, moved where `moves` are given; or, where `picked` is null, of those
/// from `first` on.
cudaError_t gather_cases(const CaseInputs& from, const int* picked, const ImageShift* moves,
                         std::size_t first, Rows rows, float* x, cudaStream_t stream);
cudaError_t layer_forward(const NetworkLayer& layer, const float* coefficients, const float* x,
                          Rows rows, float* y, cudaStream_t stream);
/// Forward of a layer whose outputs are only summed: `classes` groups of its gates, each in
/// `parts`.
cudaError_t layer_scores(const NetworkLayer& layer, const float* coefficients, const float* x,
                         Rows rows, int classes, int parts, float* scores, cudaStream_t stream);
/// Parts of the loss and, where `g` is not null, its gradient.
cudaError_t loss_and_gradient(const LossCode& code, const float* y, Rows rows, float* g,
                              double* losses, int loss_count, cudaStream_t stream);
int loss_parts(bool has_classes, int outputs, Rows rows);

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
cudaError_t layer_backward(const LayerBackward& code, Rows rows, cudaStream_t stream);

/// Coefficients from logits, where `update.gradients` and the moments play no part.
cudaError_t make_coefficients(const GateUpdate& update, cudaStream_t stream);
cudaError_t update_gates(const GateUpdate& update, cudaStream_t stream);

// The hardened circuit on bits: rows of words of 32 samples.
cudaError_t harden(const GateUpdate& update, std::uint64_t* tables, cudaStream_t stream);
cudaError_t hard_layer(const NetworkLayer& layer, const std::uint64_t* tables,
                       const std::uint32_t* x, std::size_t words, std::uint32_t* y,
                       cudaStream_t stream);

/// Wrong bits and wrong cases, per word of 32 samples.
struct WordMistakes {
  std::uint32_t bits, cases;
};
/// Bits of rows that lie `stride` apart, into rows that are `words` long.
cudaError_t pack_bits(const float* x, int features, std::size_t samples, std::size_t stride,
                      std::uint32_t* bits, std::size_t words, cudaStream_t stream);
cudaError_t compare_bits(const std::uint32_t* received, const std::uint32_t* wanted, int features,
                         std::size_t samples, WordMistakes* mistakes, cudaStream_t stream);
/// The class whose outputs are 1 most often, of equal ones the first: `predicted` is [samples].
cudaError_t classes_of_bits(const std::uint32_t* bits, int features, int classes,
                            std::size_t samples, int* predicted, cudaStream_t stream);
/// The same as `compare_bits` for soft outputs, which count as 1 above one half.
cudaError_t compare_soft(const float* y, Rows rows, const float* targets, std::size_t cases,
                         std::size_t first, int features, WordMistakes* mistakes,
                         cudaStream_t stream);

}  // namespace boolgrad::cuda
