// Soft look-up tables over tiles of samples.
//
// Activations are stored in tiles: [tiles][features][samples of a tile]. A tile goes through all
// layers before the next one starts, so the outputs of a layer are still in the cache when the next
// layer reads them. The gradient of an input is gathered from its consumers. The 2^k sums for the
// coefficients of a gate are accumulated in the same pass, when its first input is visited.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::cpu {

/// The tiling of samples, which depends only on their number. The last tile is padded with zeros.
struct LutTiling {
  explicit LutTiling(std::int64_t sample_count);
  std::int64_t samples;
  std::int64_t tile;  ///< samples per tile, a multiple of 16
  std::int64_t tiles;
};

/// Converts tables [gates, 2^k] to the coefficients of the multilinear polynomial: entry S
/// multiplies the product of the inputs whose bits are set in S.
void tables_to_coefficients(const Tensor& tables, Tensor& coefficients);
/// The transpose of `tables_to_coefficients`, for gradients.
void coefficient_to_table_gradients(const Tensor& coefficients, Tensor& tables);

/// out [gates of the last layer, samples] = the layers applied to x [inputs, samples].
void lut_forward(std::span<const LutWires> layers, std::span<const Tensor> coefficients,
                 const Tensor& x, Tensor& out);

/// Computes the gradients of the coefficients [tables, 2^k] of every layer and, if `gx` is given,
/// of x. Activations are recomputed tile by tile, so that they are never stored for all samples.
void lut_backward(std::span<const LutWires> layers, std::span<const Tensor> coefficients,
                  const Tensor& x, const Tensor& g, std::vector<Tensor>& gc, Tensor* gx);

}  // namespace boolgrad::cpu
