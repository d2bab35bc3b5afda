// Output heads: a class or a value from group sums of the outputs. Plain C++17, shared with device
// kernels.
#pragma once

#include <cstdint>

namespace boolgrad {

/// How a head turns group sums into a prediction.
enum class HeadKind : std::uint8_t {
  classes,     ///< one group per class; predicts the largest sum, the first one on a tie
  binary,      ///< one group; predicts class 1 if more than half of the outputs are 1
  regression,  ///< one group; a value between `low` and `high`, proportional to the sum
};

/// An output head.
struct Head {
  HeadKind kind = HeadKind::classes;  ///< the kind of prediction
  std::int64_t classes = 2;           ///< number of classes
  double temperature = 1;             ///< divides the sums before the softmax
  double low = 0;                     ///< regression: value of a sum of 0
  double high = 1;                    ///< regression: value of the largest sum

  /// The number of groups: one per class, or one.
  constexpr std::int64_t groups() const { return kind == HeadKind::classes ? classes : 1; }

  /// Whether two heads are the same.
  friend constexpr bool operator==(const Head& a, const Head& b) {
    return a.kind == b.kind && a.classes == b.classes && a.temperature == b.temperature &&
           a.low == b.low && a.high == b.high;
  }
};

}  // namespace boolgrad
