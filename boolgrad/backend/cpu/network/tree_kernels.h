// Fused kernels of convolutions: trees of two-input gates with pooling.
//
// For each pooled output, the leaves are read once; gates and pool stay in registers. The backward
// pass computes them again, so that the values of gates are never stored.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "boolgrad/backend/plan/network_stages.h"
#include "boolgrad/tensor/dtype.h"

namespace boolgrad::cpu {

/// The trees of a stage with their tables.
struct TreeBlock {
  GateTrees trees = {};
  /// For each level, [tables, 4].
  std::array<const void*, max_tree_levels> coefficients = {};
};

/// Kernels for one tile. Rows of features are `tile` elements apart. `sums` accumulates the
/// gradients of the coefficients of each level. `gx` is null if the inputs need no gradient.
struct TreeKernels {
  void (*forward)(const TreeBlock& block, const void* x, void* out, std::size_t tile);
  void (*backward)(const TreeBlock& block, const void* x, const void* g, void* gx,
                   std::span<void* const> sums, std::size_t tile);
};

/// The kernels for a dtype and a number of levels.
TreeKernels tree_kernels(DType dtype, int levels);

}  // namespace boolgrad::cpu
