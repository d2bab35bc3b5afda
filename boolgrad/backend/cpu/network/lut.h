// Soft look-up tables over tiles of samples.
//
// Activations lie in tiles: [tiles][features][samples of a tile]. A tile walks through all layers
// before the next one starts, so what one layer wrote is still in the cache when the next reads it.
// The gradient of an input is gathered from its consumers; the four (2^k) sums that a gate's
// coefficients need are taken when its first input is visited, in the same pass.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::cpu {

/// How samples are cut into tiles; a function of their number alone. The last tile is filled up
/// with zeros.
struct LutTiling {
  explicit LutTiling(std::int64_t sample_count);
  std::int64_t samples;
  std::int64_t tile;  ///< samples of a tile, a multiple of 16
  std::int64_t tiles;
};

/// Tables [gates, 2^k] to coefficients of the polynomial in the inputs: entry S multiplies the
/// product of the inputs whose bits are set in S. And the transpose of that map, for gradients.
void tables_to_coefficients(const Tensor& tables, Tensor& coefficients);
void coefficient_to_table_gradients(const Tensor& coefficients, Tensor& tables);

/// out [gates of the last layer, samples] = the layers applied to x [inputs, samples].
void lut_forward(std::span<const LutWires> layers, std::span<const Tensor> coefficients,
                 const Tensor& x, Tensor& out);

/// Gradients of the coefficients of every layer and, where `gx` is given, of x. The activations of
/// a tile are computed again while it is in the cache, so those of all tiles need no memory.
void lut_backward(std::span<const LutWires> layers, std::span<const Tensor> coefficients,
                  const Tensor& x, const Tensor& g, std::vector<Tensor>& gc, Tensor* gx);

}  // namespace boolgrad::cpu
