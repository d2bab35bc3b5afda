// Where the levels of thresholds come from: training data.
#pragma once

#include <cstdint>
#include <string_view>

#include "boolgrad/data/data_set.h"
#include "boolgrad/logic/thresholds.h"

namespace boolgrad {

enum class BinarisationKind : std::uint8_t {
  threshold,  ///< one level, at a share of a feature's range
  uniform,    ///< a thermometer of levels at equal distances within the range
  quantile,   ///< a thermometer of levels that as many training samples lie between
};

std::string_view to_string(BinarisationKind kind);

struct BinarisationOptions {
  BinarisationKind kind = BinarisationKind::threshold;
  double threshold = 0.5;   ///< of `threshold`, as a share of the range
  std::int64_t levels = 4;  ///< of thermometers, for every feature that has more than two values
  /// Bits that are the same for more than 1 - `least` of the training samples are left out; with
  /// 0 only those that are the same for all of them.
  double least = 0;
};

/// Thresholds for samples [samples, features]. The range of bytes with a largest value above 1 is 0
/// to 255, that of other features what they have in the samples; one of two values gets one level,
/// half-way. Refuses samples of which no bit is left.
Thresholds make_thresholds(const Tensor& samples, const BinarisationOptions& options);

}  // namespace boolgrad
