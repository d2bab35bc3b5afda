// Output heads: a class or a value from group sums of the outputs. Plain C++17, shared with device
// kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace boolgrad {

/// How a head turns group sums into a prediction.
enum class HeadKind : std::uint8_t {
  classes,     ///< one group per class; predicts the largest sum, the first one on a tie
  binary,      ///< one group; predicts class 1 if more than half of the outputs are 1
  regression,  ///< one group; a value between `low` and `high`, proportional to the sum
  bits,        ///< one group per bit of the class, which is 1 if more than half of the outputs are
};

/// The weights with which outputs count.
enum class HeadWeights : std::uint8_t {
  ones,    ///< all outputs count once
  powers,  ///< powers of two, which are trained
};

/// The largest exponent of a weight.
inline constexpr std::int64_t max_weight_exponent = 6;

/// An output head.
struct Head {
  HeadKind kind = HeadKind::classes;  ///< the kind of prediction
  std::int64_t classes = 2;           ///< number of classes
  double temperature = 1;             ///< divides the sums before the softmax
  double low = 0;                     ///< regression: value of a sum of 0
  double high = 1;                    ///< regression: value of the largest sum
  /// Output i counts 2^exponents[i] times. Empty: every output counts once.
  std::vector<std::int32_t> exponents = {};

  /// The number of groups: one per class, one per bit of the class, or one.
  constexpr std::int64_t groups() const {
    if (kind == HeadKind::classes) return classes;
    if (kind != HeadKind::bits) return 1;
    std::int64_t bits = 1;
    for (std::int64_t rest = (classes - 1) / 2; rest > 0; rest /= 2) ++bits;
    return bits;
  }
  /// Whether every group votes on a bit of the class, by majority.
  constexpr bool has_votes() const { return kind == HeadKind::binary || kind == HeadKind::bits; }

  /// How often an output counts.
  std::int64_t weight(std::size_t output) const {
    return exponents.empty() ? 1 : std::int64_t{1} << exponents[output];
  }
  /// The largest sum of a group. `outputs` is the total number of outputs.
  std::int64_t largest_sum(std::int64_t group, std::int64_t outputs) const {
    const std::int64_t size = outputs / groups();
    if (exponents.empty()) return size;
    std::int64_t sum = 0;
    for (std::int64_t i = group * size; i < (group + 1) * size; ++i) {
      sum += weight(static_cast<std::size_t>(i));
    }
    return sum;
  }

  /// Whether two heads are the same.
  friend bool operator==(const Head& a, const Head& b) {
    return a.kind == b.kind && a.classes == b.classes && a.temperature == b.temperature &&
           a.low == b.low && a.high == b.high && a.exponents == b.exponents;
  }
};

}  // namespace boolgrad
