// Kernels of convolutions. Internal to `cuda/`.
//
// Trees of two-input gates are computed at once: a group of lanes takes one output, evaluates its
// roots in registers and stores their maximum. The backward pass evaluates them again. Everything
// else is computed layer by layer: coefficients of shared tables are copied for every gate, and the
// gates' sums are added up.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "boolgrad/backend/cuda/network/arguments.h"
#include "boolgrad/backend/plan/network_layout.h"

namespace boolgrad::cuda {

using layout::max_tree_levels;
using layout::TreeSection;

// All of these launch on `stream` without waiting.

/// A layer whose gates share tables. Its `NetworkLayer` refers to coefficients and sums of gates.
struct SharedTables {
  int tables, positions, arity;
  std::size_t first_entry;      ///< of the tables, among the entries of all layers
  std::size_t first_expanded;   ///< of the gates, among the expanded entries of all such layers
  const std::uint8_t* outside;  ///< [gates]: bit j is 1 if input j reads 0; or null
};

/// Coefficients of every gate.
cudaError_t expand_coefficients(const SharedTables& tables, const float* coefficients,
                                float* expanded, cudaStream_t stream);

struct SharedSums {
  SharedTables tables;
  const float* expanded;         ///< [chunks, expanded entries]
  std::size_t expanded_entries;  ///< of all layers together
  float* sums;                   ///< [chunks, entries]
  std::size_t entries;           ///< of all layers together
  const StepState* state;
  std::uint32_t* not_finite;
};
/// Sums of every table, over its gates.
cudaError_t add_shared_sums(const SharedSums& arguments, RowShape rows, cudaStream_t stream);

cudaError_t pool_forward(const NetworkLayer& layer, const float* x, RowShape rows, float* y,
                         cudaStream_t stream);
/// Inputs that tie for the maximum share its gradient.
cudaError_t pool_backward(const NetworkLayer& layer, const float* x, const float* g, RowShape rows,
                          float* gx, cudaStream_t stream);

/// Trees, as planned in plan/network_trees.h. Positions are those of the processing order.
struct TreeStage {
  int levels, pool, inputs, outputs, kernels, section_count;
  std::size_t first_entry[max_tree_levels];  ///< of the tables of every level
  const int* rows;                           ///< [outputs]: row of the output at a position
  const int* kernel_of;                      ///< [outputs]
  const int* leaves;                         ///< [outputs, pool, leaves]: rows, or -1
  const TreeSection* sections;
  const int* first_section;   ///< [kernels + 1]
  const int* first_leaf_row;  ///< [inputs + 1]
  const int* leaf_rows;
};

/// `winners`, if not null, receives the roots that are the maximum: [outputs, stride] bytes, by
/// position; bit k is root k.
cudaError_t trees_forward(const TreeStage& stage, const float* coefficients, const float* x,
                          RowShape rows, float* y, std::uint32_t* winners, cudaStream_t stream);

struct TreeBackward {
  TreeStage stage;
  const float* coefficients;
  const float* x;
  const float* g;
  const std::uint32_t* winners;
  float* leaf_gradients;  ///< [outputs, pool, leaves, stride]; null if inputs need no gradients
  float* gx;              ///< or null
  float* partial_sums;    ///< [chunks, sections, gates of a tree, 4]
  float* sums;            ///< [chunks, entries]
  std::size_t entries;    ///< of all layers together
  const StepState* state;
  std::uint32_t* not_finite;
};
cudaError_t trees_backward(const TreeBackward& arguments, RowShape rows, cudaStream_t stream);

}  // namespace boolgrad::cuda
