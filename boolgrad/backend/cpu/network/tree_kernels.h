// Fused kernels of convolutions: trees of two-input gates with pooling.
//
// For each pooled output, the leaves are read once; gates and pool stay in registers. The backward
// pass computes them again, so that the values of gates are never stored.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "boolgrad/tensor/dtype.h"

namespace boolgrad::cpu {

/// The largest number of levels of a fused tree.
inline constexpr int max_tree_levels = 4;

/// The layers of a convolution. Kernel k has a tree of `levels` levels; its root at position p is
/// root k * positions + p.
struct TreeBlock {
  std::int64_t inputs = 0;
  std::int64_t positions = 1;  ///< of every kernel
  int levels = 1;
  std::span<const std::int32_t> sources = {};  ///< [gates of the first level, 2]
  /// [gates of the first level], or empty: bit j is 1 if input j lies outside of the image.
  std::span<const std::uint8_t> outside = {};
  std::int64_t outputs = 0;
  /// [outputs, pool]: the roots of each output, all of one kernel and each read once. Empty: the
  /// outputs are the roots.
  std::span<const std::int32_t> pooled = {};
  std::int64_t pool = 1;
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
