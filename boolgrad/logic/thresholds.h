// Binarisation of features: the layer in front of a classifier's first gates.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/logic/lut.h"
#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::logic {

/// Bit b is 1 where feature `sources()[b]` exceeds `values()[b]`. Several bits of one feature form
/// a thermometer code. Thresholds and features are compared in float32, which is exact for bytes.
class Thresholds {
 public:
  /// `thresholds` is float32 [bits]. Throws if a source is not below `features` or a threshold is
  /// not finite.
  Thresholds(std::int64_t features, std::vector<std::int32_t> sources, const Tensor& thresholds);

  /// Number of features per sample.
  std::int64_t features() const { return features_; }
  /// Number of bits, one per threshold.
  std::int64_t bits() const { return static_cast<std::int64_t>(sources_.size()); }
  /// The feature that each bit compares.
  std::span<const std::int32_t> sources() const { return sources_; }
  /// The thresholds: float32 [bits].
  const Tensor& values() const { return values_; }

  /// Packed bits of samples, uint8 or float32 [samples, features].
  BitMatrix bits_of(const Tensor& samples) const;

  /// The same bits as bytes, one row per sample: uint8 [samples, bits].
  Tensor bytes_of(const Tensor& samples) const;

  /// Adds the thresholds to a model file.
  void save(TensorFile& file) const;
  /// Whether a model file contains thresholds.
  static bool is_in(const TensorFile& file);
  /// Reads the thresholds of a model file.
  static Thresholds from_file(const TensorFile& file);

 private:
  std::int64_t features_;
  std::vector<std::int32_t> sources_;
  Tensor values_;
};

/// Bits [bits, samples] of features [features, samples]: 1 where x > t. All tensors have one
/// floating dtype. The forward pass is the step function; the gradient is that of
/// sigmoid((x - t) / w) with w = `widths[b]` (straight-through estimator).
Tensor threshold_bits(const Tensor& x, const Tensor& thresholds,
                      std::span<const std::int32_t> sources, const Tensor& widths);

}  // namespace boolgrad::logic
