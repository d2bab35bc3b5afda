// What the outputs of a circuit say together: a class or a value, from sums of groups of outputs.
// Plain C++17: kernels read it too.
#pragma once

#include <cstdint>

namespace boolgrad {

enum class HeadKind : std::uint8_t {
  classes,  ///< one group of outputs per class; the class with the largest sum, the first on a tie
  binary,   ///< one group; class 1 where more than half of the outputs are 1
  regression,  ///< one group; a value between `low` and `high` in proportion to the sum
};

struct Head {
  HeadKind kind = HeadKind::classes;
  std::int64_t classes = 2;
  double temperature = 1;  ///< that sums are divided by before the softmax
  double low = 0;
  double high = 1;

  /// Sums that it reads: one per class, or one.
  constexpr std::int64_t groups() const { return kind == HeadKind::classes ? classes : 1; }

  friend constexpr bool operator==(const Head& a, const Head& b) {
    return a.kind == b.kind && a.classes == b.classes && a.temperature == b.temperature &&
           a.low == b.low && a.high == b.high;
  }
};

}  // namespace boolgrad
