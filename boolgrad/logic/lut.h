// Layers of look-up tables.
//
// Table order: entry i of a table is the output where input j of the gate is bit j of i. For two
// inputs the entries are f(0,0), f(1,0), f(0,1), f(1,1). The index of a two-input gate in `gates.h`
// is another number: 8 f(0,0) + 4 f(0,1) + 2 f(1,0) + f(1,1).
#pragma once

#include <span>
#include <vector>

#include "boolgrad/logic/wiring.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::logic {

/// The table of every gate [gates, 2^arity], from those of a layer whose gates share tables:
/// [tables, 2^arity], of any dtype. Entries of an input that lies outside of the image are those of
/// a 0 there. The gates of a pooling layer are ORs.
Tensor expanded_tables(const Tensor& tables, const Wiring& wiring);

/// A layer of soft gates: each table, interpolated multilinearly at the inputs of its gate. `x` is
/// [inputs, samples], `tables` is [tables, 2^arity] with one row per gate unless gates share
/// tables, and the result is [gates, samples]. The gates of a pooling layer are maxima of their
/// inputs; inputs that tie for the maximum share the gradient equally. float32 or float64.
Tensor lut_layer(const Tensor& x, const Tensor& tables, const WiringPtr& wiring);

/// A stack of layers as one op, which passes each tile of samples through all layers while it is in
/// the cache. Returns the outputs of the last layer.
Tensor lut_layers(const Tensor& x, std::span<const Tensor> tables,
                  std::span<const WiringPtr> wirings);

/// `lut_layer` composed of plain ops: the reference for tests.
Tensor lut_layer_reference(const Tensor& x, const Tensor& tables, const WiringPtr& wiring);

/// Packed bits of samples. A word holds 64 samples of one feature, the first in the lowest bit.
struct BitMatrix {
  std::int64_t features = 0;
  std::int64_t samples = 0;
  std::vector<std::uint64_t> words;  ///< [features, words_per_feature()]

  /// Words per feature: samples / 64, rounded up.
  std::int64_t words_per_feature() const { return (samples + 63) / 64; }
  /// The bit of one feature of one sample.
  bool at(std::int64_t feature, std::int64_t sample) const {
    const auto word = static_cast<std::size_t>(feature * words_per_feature() + sample / 64);
    return ((words[word] >> (sample % 64)) & 1) != 0;
  }
};

/// Packs a tensor [features, samples] of any dtype: 1 where a value is above one half.
BitMatrix pack_bits(const Tensor& x);

/// Unpacks to a tensor [features, samples] of zeros and ones.
Tensor unpack_bits(const BitMatrix& bits, DType dtype);

/// A layer of hard gates on packed bits. `tables` is uint8 [tables, 2^arity].
BitMatrix hard_lut_layer(const BitMatrix& x, const Tensor& tables, const Wiring& wiring);

}  // namespace boolgrad::logic
