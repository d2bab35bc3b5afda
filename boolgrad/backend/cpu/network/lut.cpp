#include "boolgrad/backend/cpu/network/lut.h"

#include <algorithm>
#include <cstring>

#include "boolgrad/backend/cpu/network/lut_stack.h"
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

std::int64_t widest(std::span<const LutWires> layers) {
  std::int64_t features = 0;
  for (const LutWires& wires : layers) features = std::max({features, wires.inputs, wires.gates});
  return features;
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
  const LayerStack stack(layers, coefficients, x.dtype());
  const Shape tile_shape{widest(layers), tiling.tile};
  const TileGroups groups(tiling.tiles, max_groups);
  const auto tile_length = static_cast<std::size_t>(tiling.tile);
  parallel_for(groups.size(), [&](std::size_t group) {
    // Inputs and outputs alternate between two buffers.
    Tensor buffers[2] = {Tensor(tile_shape, x.dtype()), Tensor(tile_shape, x.dtype())};
    for (std::int64_t tile = groups.begin(group); tile < groups.end(group); ++tile) {
      fill_tile(x, tiling, tile, bytes_of(buffers[0]));
      for (std::size_t layer = 0; layer < layers.size(); ++layer) {
        stack.forward(layer, buffers[layer % 2].data(), buffers[(layer + 1) % 2].mutable_data(),
                      tile_length);
      }
      empty_tile(bytes_of(buffers[layers.size() % 2]), tiling, tile, out);
    }
  });
}

void lut_backward(std::span<const LutWires> layers, std::span<const Tensor> coefficients,
                  const Tensor& x, const Tensor& g, std::vector<Tensor>& gc, Tensor* gx) {
  const DType dtype = g.dtype();
  const LutTiling tiling(g.shape()[1]);
  const LayerStack stack(layers, coefficients, dtype);
  const TileGroups groups(tiling.tiles, max_groups);
  const auto tile_length = static_cast<std::size_t>(tiling.tile);
  const Shape tile_shape{widest(layers), tiling.tile};
  GroupSums sums(groups.size());
  parallel_for(groups.size(), [&](std::size_t group) {
    std::vector<Tensor> inputs;  // of every layer
    for (const LutWires& wires : layers)
      inputs.emplace_back(Shape{wires.inputs, tiling.tile}, dtype);
    sums[group] = zeros_like(coefficients);
    Tensor gradients[2] = {Tensor(tile_shape, dtype), Tensor(tile_shape, dtype)};
    for (std::int64_t tile = groups.begin(group); tile < groups.end(group); ++tile) {
      fill_tile(x, tiling, tile, bytes_of(inputs[0]));
      for (std::size_t layer = 0; layer + 1 < layers.size(); ++layer) {
        stack.forward(layer, inputs[layer].data(), inputs[layer + 1].mutable_data(), tile_length);
      }
      fill_tile(g, tiling, tile, bytes_of(gradients[layers.size() % 2]));
      for (std::size_t layer = layers.size(); layer-- > 0;) {
        const bool wanted = layer > 0 || gx != nullptr;
        stack.backward(layer, inputs[layer].data(), gradients[(layer + 1) % 2].data(),
                       wanted ? gradients[layer % 2].mutable_data() : nullptr, sums[group][layer],
                       tile_length);
      }
      if (gx != nullptr) empty_tile(bytes_of(gradients[0]), tiling, tile, *gx);
    }
  });
  gc = zeros_like(coefficients);
  if (dtype == DType::float32) add_groups<float>(sums, gc);
  else add_groups<double>(sums, gc);
}

}  // namespace boolgrad::cpu
