// Axes of plots: positions of values and ticks. Internal.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace boolgrad::picture {

/// A tick of an axis.
struct Tick {
  double position;    ///< along the axis, from 0 to 1
  std::string label;  ///< empty for minor ticks
};

/// Whether an axis can show a value: finite, and small enough that a range cannot overflow.
bool is_plottable(double value);

/// Whether an axis ends at the extreme values or at the next ticks.
enum class Ends : bool { exact, rounded };

class Axis {
 public:
  /// Ignores values that are not plottable. Chooses a default range if none is left or all are
  /// equal.
  static Axis linear(std::span<const double> values, int max_ticks, Ends ends);
  /// Covers whole decades. Values at or below 0 are shown below the lowest decade.
  static Axis logarithmic(std::span<const double> values);

  /// The position of a value along the axis, from 0 to 1.
  double position(double value) const;
  const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  void mark_decades();

  bool logarithmic_ = false;
  double low_ = 0;  ///< the ends; on a logarithmic axis, of the exponents
  double high_ = 1;
  double floor_ = 0;  ///< the part of the axis below the lowest decade
  std::vector<Tick> ticks_;
};

/// Formats a number as a short label: `0.25`, `1234567`, `2.5e12`.
std::string number_text(double value);

}  // namespace boolgrad::picture
