#include "boolgrad/backend/cpu/network/lut.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "boolgrad/backend/cpu/network/lut_stack.h"
#include "boolgrad/backend/cpu/network/tree_kernels.h"
#include "boolgrad/backend/plan/network_stages.h"
#include "boolgrad/core/parallel.h"

namespace boolgrad::cpu {
namespace {

// The maximal number of groups of tiles.
constexpr std::int64_t max_groups = 32;

std::size_t bytes(std::int64_t elements, DType dtype) {
  return static_cast<std::size_t>(elements) * size_of(dtype);
}

// Copies the columns of tile `index` of a [features, samples] tensor into [features][tile].
void fill_tile(const Tensor& x, const LutTiling& tiling, std::int64_t index, std::byte* to) {
  const std::int64_t first = index * tiling.tile;
  const std::int64_t count = std::min(tiling.tile, tiling.samples - first);
  const std::size_t used = bytes(count, x.dtype());
  const std::size_t whole = bytes(tiling.tile, x.dtype());
  const auto* from = static_cast<const std::byte*>(x.data()) + bytes(first, x.dtype());
  for (std::int64_t row = 0; row < x.shape()[0]; ++row) {
    std::memcpy(to, from, used);
    std::memset(to + used, 0, whole - used);
    from += bytes(tiling.samples, x.dtype());
    to += whole;
  }
}

void empty_tile(const std::byte* from, const LutTiling& tiling, std::int64_t index, Tensor& out) {
  const std::int64_t first = index * tiling.tile;
  const std::int64_t count = std::min(tiling.tile, tiling.samples - first);
  auto* to = static_cast<std::byte*>(out.mutable_data()) + bytes(first, out.dtype());
  for (std::int64_t row = 0; row < out.shape()[0]; ++row) {
    std::memcpy(to, from, bytes(count, out.dtype()));
    to += bytes(tiling.samples, out.dtype());
    from += bytes(tiling.tile, out.dtype());
  }
}

std::byte* bytes_of(Tensor& tensor) { return static_cast<std::byte*>(tensor.mutable_data()); }

// For each of the k inputs: f = f0 + x (f1 - f0).
template <class T>
void to_coefficients(std::span<T> values, std::size_t entries) {
  for (std::size_t start = 0; start < values.size(); start += entries) {
    for (std::size_t bit = 1; bit < entries; bit *= 2) {
      for (std::size_t s = 0; s < entries; ++s) {
        if ((s & bit) != 0) values[start + s] -= values[start + s - bit];
      }
    }
  }
}

template <class T>
void to_table_gradients(std::span<T> values, std::size_t entries) {
  for (std::size_t start = 0; start < values.size(); start += entries) {
    for (std::size_t bit = 1; bit < entries; bit *= 2) {
      for (std::size_t s = 0; s < entries; ++s) {
        if ((s & bit) != 0) values[start + s - bit] -= values[start + s];
      }
    }
  }
}

// Applies a map of tables to tables, gates in parallel.
template <class T, class Map>
void transform_tables(const Tensor& from, Tensor& to, Map map) {
  constexpr std::size_t gates_per_task = 4096;
  const auto entries = static_cast<std::size_t>(from.shape()[1]);
  const auto gates = static_cast<std::size_t>(from.shape()[0]);
  const std::span<const T> source = from.values<T>();
  const std::span<T> target = to.mutable_values<T>();
  parallel_for(task_count(gates, gates_per_task), [&](std::size_t task) {
    const std::size_t begin = task * gates_per_task * entries;
    const std::size_t end = std::min(gates, (task + 1) * gates_per_task) * entries;
    std::copy(source.begin() + static_cast<std::ptrdiff_t>(begin),
              source.begin() + static_cast<std::ptrdiff_t>(end),
              target.begin() + static_cast<std::ptrdiff_t>(begin));
    map(target.subspan(begin, end - begin), entries);
  });
}

/// Calls f(element of the coefficients of all gates, element of the shared ones) for all
/// coefficients that are not 0 because an input of the gate lies outside of the image.
template <class F>
void for_shared_coefficients(const LutWires& wires, const F& f) {
  const std::size_t entries = wires.entries();
  const auto positions = static_cast<std::size_t>(wires.positions);
  for (std::size_t gate = 0; gate < static_cast<std::size_t>(wires.gates); ++gate) {
    const std::size_t zeros = wires.outside.empty() ? 0 : wires.outside[gate];
    for (std::size_t s = 0; s < entries; ++s) {
      if ((s & zeros) == 0) f(gate * entries + s, gate / positions * entries + s);
    }
  }
}

/// The coefficients of every gate, from those that gates share.
Tensor expanded_coefficients(const LutWires& wires, const Tensor& shared) {
  Tensor expanded = Tensor::zeros({wires.gates, shared.shape()[1]}, shared.dtype());
  visit_dtype(shared.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const std::span<T> to = expanded.mutable_values<T>();
    const std::span<const T> from = shared.values<T>();
    for_shared_coefficients(wires, [&](std::size_t i, std::size_t k) { to[i] = from[k]; });
  });
  return expanded;
}

/// The transpose of `expanded_coefficients`: sums over the gates that share coefficients, in order.
Tensor shared_gradients(const LutWires& wires, const Tensor& expanded) {
  Tensor shared = Tensor::zeros({wires.tables(), expanded.shape()[1]}, expanded.dtype());
  visit_dtype(expanded.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      const std::span<T> to = shared.mutable_values<T>();
      const std::span<const T> from = expanded.values<T>();
      for_shared_coefficients(wires, [&](std::size_t i, std::size_t k) { to[k] += from[i]; });
    }
  });
  return shared;
}

/// A stack of layers as stages.
class StagedStack {
 public:
  StagedStack(std::span<const LutWires> layers, std::span<const Tensor> coefficients, DType dtype)
      : layers_(layers),
        coefficients_(coefficients.begin(), coefficients.end()),
        stack_(layers, coefficients_, dtype),
        stages_(network_stages(layers)) {
    for (const NetworkStage& stage : stages_) {
      kernels_.emplace_back();
      blocks_.emplace_back();
      if (!stage.trees) {
        const LutWires& wires = layers[stage.first];
        if (!wires.pools && !wires.has_own_tables()) {
          coefficients_[stage.first] = expanded_coefficients(wires, coefficients_[stage.first]);
        }
        continue;
      }
      const auto levels = static_cast<std::size_t>(stage.trees->levels);
      blocks_.back().trees = *stage.trees;
      for (std::size_t level = 0; level < levels; ++level) {
        blocks_.back().coefficients[level] = coefficients[stage.first + level].data();
      }
      kernels_.back() = tree_kernels(dtype, stage.trees->levels);
    }
  }

  std::size_t size() const { return stages_.size(); }
  std::int64_t inputs(std::size_t stage) const { return layers_[stages_[stage].first].inputs; }

  /// The largest number of inputs or outputs of a stage.
  std::int64_t widest() const {
    std::int64_t features = 0;
    for (const NetworkStage& stage : stages_) {
      features = std::max({features, layers_[stage.first].inputs, layers_[stage.last()].gates});
    }
    return features;
  }

  void forward(std::size_t index, const void* x, void* out, std::size_t tile) const {
    const NetworkStage& stage = stages_[index];
    if (stage.trees) kernels_[index].forward(blocks_[index], x, out, tile);
    else stack_.forward(stage.first, x, out, tile);
  }

  /// `gx` is null if the inputs need no gradient.
  void backward(std::size_t index, const void* x, const void* g, void* gx,
                std::vector<Tensor>& sums, std::size_t tile) const {
    const NetworkStage& stage = stages_[index];
    if (!stage.trees) {
      stack_.backward(stage.first, x, g, gx, sums[stage.first], tile);
      return;
    }
    std::array<void*, max_tree_levels> of_levels{};
    const auto levels = static_cast<std::size_t>(stage.trees->levels);
    for (std::size_t level = 0; level < levels; ++level) {
      of_levels[level] = sums[stage.first + level].mutable_data();
    }
    kernels_[index].backward(blocks_[index], x, g, gx, std::span(of_levels).first(levels), tile);
  }

  /// Sums of zeros: [gates, 2^arity], or [tables, 2^arity] within trees.
  std::vector<Tensor> zero_sums() const { return zeros_like(coefficients_); }

  /// Reduces the sums of gates that share coefficients.
  void share(std::vector<Tensor>& sums) const {
    for (const NetworkStage& stage : stages_) {
      const LutWires& wires = layers_[stage.first];
      if (stage.trees || wires.pools || wires.has_own_tables()) continue;
      sums[stage.first] = shared_gradients(wires, sums[stage.first]);
    }
  }

 private:
  std::span<const LutWires> layers_;
  std::vector<Tensor> coefficients_;  ///< of every gate, or shared within trees
  LayerStack stack_;
  std::vector<NetworkStage> stages_;
  // Of the stages that are trees:
  std::vector<TreeKernels> kernels_;
  std::vector<TreeBlock> blocks_;
};

}  // namespace

LutTiling::LutTiling(std::int64_t sample_count) : samples(sample_count) {
  // A quarter of the samples, so that small batches run in parallel, rounded up to whole vectors.
  // More than 64 would evict the rows of wide layers from the cache.
  const std::int64_t quarter = (samples / 4 + 15) / 16 * 16;
  tile = std::clamp<std::int64_t>(quarter, 16, 64);
  tiles = (samples + tile - 1) / tile;
}

void tables_to_coefficients(const Tensor& tables, Tensor& coefficients) {
  if (tables.dtype() == DType::float32) {
    transform_tables<float>(tables, coefficients, to_coefficients<float>);
  } else {
    transform_tables<double>(tables, coefficients, to_coefficients<double>);
  }
}

void coefficient_to_table_gradients(const Tensor& coefficients, Tensor& tables) {
  if (tables.dtype() == DType::float32) {
    transform_tables<float>(coefficients, tables, to_table_gradients<float>);
  } else {
    transform_tables<double>(coefficients, tables, to_table_gradients<double>);
  }
}

void lut_forward(std::span<const LutWires> layers, std::span<const Tensor> coefficients,
                 const Tensor& x, Tensor& out) {
  const LutTiling tiling(x.shape()[1]);
  const StagedStack stack(layers, coefficients, x.dtype());
  const Shape tile_shape{stack.widest(), tiling.tile};
  const TileGroups groups(tiling.tiles, max_groups);
  const auto tile_length = static_cast<std::size_t>(tiling.tile);
  parallel_for(groups.size(), [&](std::size_t group) {
    // Inputs and outputs alternate between two buffers.
    Tensor buffers[2] = {Tensor(tile_shape, x.dtype()), Tensor(tile_shape, x.dtype())};
    for (std::int64_t tile = groups.begin(group); tile < groups.end(group); ++tile) {
      fill_tile(x, tiling, tile, bytes_of(buffers[0]));
      for (std::size_t stage = 0; stage < stack.size(); ++stage) {
        stack.forward(stage, buffers[stage % 2].data(), buffers[(stage + 1) % 2].mutable_data(),
                      tile_length);
      }
      empty_tile(bytes_of(buffers[stack.size() % 2]), tiling, tile, out);
    }
  });
}

void lut_backward(std::span<const LutWires> layers, std::span<const Tensor> coefficients,
                  const Tensor& x, const Tensor& g, std::vector<Tensor>& gc, Tensor* gx) {
  const DType dtype = g.dtype();
  const LutTiling tiling(g.shape()[1]);
  const StagedStack stack(layers, coefficients, dtype);
  const TileGroups groups(tiling.tiles, max_groups);
  const auto tile_length = static_cast<std::size_t>(tiling.tile);
  const Shape tile_shape{stack.widest(), tiling.tile};
  GroupSums sums(groups.size());
  parallel_for(groups.size(), [&](std::size_t group) {
    std::vector<Tensor> inputs;  // of every stage
    for (std::size_t stage = 0; stage < stack.size(); ++stage) {
      inputs.emplace_back(Shape{stack.inputs(stage), tiling.tile}, dtype);
    }
    sums[group] = stack.zero_sums();
    Tensor gradients[2] = {Tensor(tile_shape, dtype), Tensor(tile_shape, dtype)};
    for (std::int64_t tile = groups.begin(group); tile < groups.end(group); ++tile) {
      fill_tile(x, tiling, tile, bytes_of(inputs[0]));
      for (std::size_t stage = 0; stage + 1 < stack.size(); ++stage) {
        stack.forward(stage, inputs[stage].data(), inputs[stage + 1].mutable_data(), tile_length);
      }
      fill_tile(g, tiling, tile, bytes_of(gradients[stack.size() % 2]));
      for (std::size_t stage = stack.size(); stage-- > 0;) {
        const bool wanted = stage > 0 || gx != nullptr;
        stack.backward(stage, inputs[stage].data(), gradients[(stage + 1) % 2].data(),
                       wanted ? gradients[stage % 2].mutable_data() : nullptr, sums[group],
                       tile_length);
      }
      if (gx != nullptr) empty_tile(bytes_of(gradients[0]), tiling, tile, *gx);
    }
  });
  gc = stack.zero_sums();
  if (dtype == DType::float32) add_groups<float>(sums, gc);
  else add_groups<double>(sums, gc);
  stack.share(gc);
}

}  // namespace boolgrad::cpu
