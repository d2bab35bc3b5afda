// Numbers as bits: the layer before the first gates of a classifier.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/logic/lut.h"
#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// Bit b is 1 where feature `sources()[b]` is above `levels()[b]`. Several bits of one feature are
/// a thermometer. Levels are float32, as are the features they are compared with, so a feature of a
/// byte is compared without rounding.
class Thresholds {
 public:
  /// Levels float32 [bits]. Refuses sources that are not below `features` and levels that are not
  /// finite.
  Thresholds(std::int64_t features, std::vector<std::int32_t> sources, const Tensor& levels);

  std::int64_t features() const { return features_; }
  std::int64_t bits() const { return static_cast<std::int64_t>(sources_.size()); }
  std::span<const std::int32_t> sources() const { return sources_; }
  const Tensor& levels() const { return levels_; }

  /// The bits of samples uint8 or float32 [samples, features], for circuits.
  BitMatrix bits_of(const Tensor& samples) const;

  /// The same as bytes, a row a sample: uint8 [samples, bits].
  Tensor bytes_of(const Tensor& samples) const;

  void save(TensorFile& file) const;
  static bool is_in(const TensorFile& file);
  static Thresholds from_file(const TensorFile& file);

 private:
  std::int64_t features_;
  std::vector<std::int32_t> sources_;
  Tensor levels_;
};

/// Bits [bits, samples] of features [features, samples] at `levels` [bits], all of one floating
/// dtype: 1 where x > t, in training as in use. The gradient passes as if bit b were
/// sigmoid((x - t) / w) with w = `widths[b]`.
Tensor threshold_bits(const Tensor& x, const Tensor& levels, std::span<const std::int32_t> sources,
                      const Tensor& widths);

}  // namespace boolgrad
