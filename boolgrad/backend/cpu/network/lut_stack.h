// Stacks of look-up-table layers, processed tile by tile. Shared by `lut.cpp` and `rollout.cpp`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/backend/cpu/network/lut_kernels.h"
#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::cpu {

/// The layers of a network with their kernels.
struct LayerStack {
  LayerStack(std::span<const LutWires> all, std::span<const Tensor> coefficients_of, DType dtype)
      : layers(all), coefficients(coefficients_of) {
    for (const LutWires& wires : layers) {
      kernels.push_back(wires.pools ? pooling_kernels(dtype) : lut_kernels(dtype, wires.arity));
    }
  }

  std::size_t size() const { return layers.size(); }

  void forward(std::size_t layer, const void* x, void* out, std::size_t tile) const {
    kernels[layer].forward(layers[layer], coefficients[layer].data(), x, out, tile);
  }

  /// `gx` is null if the inputs need no gradient.
  void backward(std::size_t layer, const void* x, const void* g, void* gx, Tensor& sums,
                std::size_t tile) const {
    kernels[layer].backward(layers[layer], coefficients[layer].data(), x, g, gx,
                            sums.mutable_data(), tile);
  }

  std::span<const LutWires> layers;
  std::span<const Tensor> coefficients;
  std::vector<LutKernels> kernels;
};

/// Groups of consecutive tiles. Each task is one group with its own sums. The number of groups
/// depends only on the number of tiles, so the order of summation does not depend on threads.
struct TileGroups {
  TileGroups(std::int64_t tile_count, std::int64_t max_groups)
      : tiles(tile_count), count(std::min(tile_count, max_groups)) {}
  std::int64_t begin(std::size_t group) const {
    return static_cast<std::int64_t>(group) * tiles / count;
  }
  std::int64_t end(std::size_t group) const { return begin(group + 1); }
  std::size_t size() const { return static_cast<std::size_t>(count); }

  std::int64_t tiles;
  std::int64_t count;
};

/// The gradient sums of all layers, one set per group.
using GroupSums = std::vector<std::vector<Tensor>>;

inline std::vector<Tensor> zeros_like(std::span<const Tensor> tensors) {
  std::vector<Tensor> zeros;
  for (const Tensor& tensor : tensors) {
    zeros.push_back(Tensor::zeros(tensor.shape(), tensor.dtype()));
  }
  return zeros;
}

/// Adds the sums of all groups, in order, for every layer.
template <class T>
void add_groups(const GroupSums& sums, std::vector<Tensor>& totals) {
  constexpr std::size_t grain = 16384;
  for (std::size_t layer = 0; layer < totals.size(); ++layer) {
    const std::span<T> to = totals[layer].mutable_values<T>();
    parallel_for(task_count(to.size(), grain), [&](std::size_t task) {
      const std::size_t end = std::min(to.size(), (task + 1) * grain);
      for (const std::vector<Tensor>& group : sums) {
        const std::span<const T> from = group[layer].values<T>();
        for (std::size_t i = task * grain; i < end; ++i) to[i] += from[i];
      }
    });
  }
}

}  // namespace boolgrad::cpu
