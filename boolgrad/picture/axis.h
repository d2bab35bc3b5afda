// The axes of plots: where a value lies, and which values are marked. Internal.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace boolgrad {

struct Tick {
  double place;       ///< along the axis, from 0 to 1
  std::string label;  ///< none for a mark between two that have one
};

/// Whether an axis can hold a value: finite, and not so large that a range could overflow.
bool can_be_placed(double value);

/// Whether the ends of an axis are those of the values or lie at the next ticks.
enum class Ends : bool { exact, rounded };

class Axis {
 public:
  /// Both scales pass over values that cannot be placed, and choose a range of their own where
  /// none is left or all are equal.
  static Axis linear(std::span<const double> values, int most_ticks, Ends ends);
  /// Whole decades. Values at or below 0 lie on a floor of their own below the lowest.
  static Axis logarithmic(std::span<const double> values);

  /// Where a value lies along the axis, from 0 to 1.
  double place(double value) const;
  const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  void mark_decades();

  bool logarithmic_ = false;
  double low_ = 0;  ///< the ends; on a logarithmic axis, of the exponents
  double high_ = 1;
  double floor_ = 0;  ///< the part of the axis below the lowest decade
  std::vector<Tick> ticks_;
};

/// A number beside a bar: `0.25`, `1234567`, `2.5e12`.
std::string number_text(double value);

}  // namespace boolgrad
