// Choice of thresholds from training data.
#pragma once

#include <cstdint>
#include <string_view>

#include "boolgrad/data/data_set.h"
#include "boolgrad/logic/thresholds.h"

namespace boolgrad::data {

enum class BinarisationKind : std::uint8_t {
  threshold,  ///< one threshold, at a share of the feature's range
  uniform,    ///< thermometer code with equally spaced thresholds
  quantile,   ///< thermometer code with equally many training samples between thresholds
};

std::string_view to_string(BinarisationKind kind);

struct BinarisationOptions {
  BinarisationKind kind = BinarisationKind::threshold;
  double threshold = 0.5;  ///< for `threshold`: its position, as a share of the range
  std::int64_t count = 4;  ///< of thermometer codes: thresholds per feature of more than two values
  /// Bits whose rarer value occurs in a smaller share of the training samples are dropped.
  /// Constant bits are always dropped.
  double min_share = 0;
  bool shared = false;  ///< the pixels of a channel share their thresholds
};

/// Thresholds for samples [samples, features]. The range of bytes is 0 to 255, unless all are 0 or
/// 1; the range of other features is that of the samples. A feature with two values gets one
/// threshold, half-way. Throws if no bit is left.
logic::Thresholds make_thresholds(const Tensor& samples, const BinarisationOptions& options);

/// Thresholds for images of `channels` channels that all pixels of a channel share: those of
/// `make_thresholds` for one feature with the values of all pixels. No bit is dropped, so every
/// threshold gives a whole image of bits. Bits are in the order (channel, threshold, row, column).
logic::Thresholds make_shared_thresholds(const Tensor& samples, std::int64_t channels,
                                         const BinarisationOptions& options);

}  // namespace boolgrad::data
