// Layers of look-up tables.
#pragma once

#include <span>
#include <vector>

#include "boolgrad/logic/wiring.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// Soft gates: each table interpolated, multilinearly, at the gate's inputs. `x` is
/// [inputs, samples], `tables` [gates, 2^arity]; the result [gates, samples]. float32 or float64.
Tensor lut_layer(const Tensor& x, const Tensor& tables, const WiringPtr& wiring);

/// The same for layers on top of one another, as one op: a tile of samples walks through all of
/// them while it is in the cache. Returns what the last one gives.
Tensor lut_layers(const Tensor& x, std::span<const Tensor> tables,
                  std::span<const WiringPtr> wirings);

/// What `lut_layer` computes, written with plain ops: the reference it is tested against.
Tensor lut_layer_reference(const Tensor& x, const Tensor& tables, const WiringPtr& wiring);

/// Samples as bits: [features, words] of 64 samples, the first in the lowest bit.
struct BitMatrix {
  std::int64_t features = 0;
  std::int64_t samples = 0;
  std::vector<std::uint64_t> words;

  std::int64_t words_per_feature() const { return (samples + 63) / 64; }
  bool at(std::int64_t feature, std::int64_t sample) const {
    const auto word = static_cast<std::size_t>(feature * words_per_feature() + sample / 64);
    return ((words[word] >> (sample % 64)) & 1) != 0;
  }
};

/// Bits of a tensor [features, samples] of any dtype: 1 where it is above one half.
BitMatrix pack_bits(const Tensor& x);

/// Bits as 0 and 1 of a dtype.
Tensor unpack_bits(const BitMatrix& bits, DType dtype);

/// Hard gates on bits: `tables` is [gates, 2^arity], uint8.
BitMatrix hard_lut_layer(const BitMatrix& x, const Tensor& tables, const Wiring& wiring);

}  // namespace boolgrad
