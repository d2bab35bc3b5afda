#include "boolgrad/picture/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace boolgrad::picture {
namespace {

constexpr double largest = 1e300;
constexpr double smallest_range = 1e-300;
constexpr double without_exponent = 1e6;  // larger ticks are written with an exponent

bool is_whole(double value) { return value == std::round(value) || !is_plottable(value); }

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
  double size() const { return high - low; }
};

/// A non-empty range that can be divided by ticks.
Range widened(Range range) {
  if (range.empty()) return {0, 1};
  const double magnitude = std::max(std::abs(range.low), std::abs(range.high));
  const double least = std::max(1e-9 * magnitude, smallest_range);
  if (range.size() >= least) return range;
  const double margin = magnitude > smallest_range ? 0.1 * magnitude : 1;
  return {range.low - margin, range.high + margin};
}

/// The smallest of ..., 0.2, 0.5, 1, 2, 5, 10, ... that divides the range into at most `max_steps`.
double tick_step(const Range& range, int max_steps) {
  const double wanted = range.size() / max_steps;
  const double power = std::pow(10, std::floor(std::log10(wanted)));
  for (const double digit : {1.0, 2.0, 5.0}) {
    if (digit * power >= wanted) return digit * power;
  }
  return 10 * power;
}

/// `1.5e+06` as `1.5e6`.
std::string with_short_exponent(std::string text) {
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text;
  std::size_t digits = e + 2;
  while (digits + 1 < text.size() && text[digits] == '0') ++digits;
  return text.substr(0, e + 1) + (text[e + 1] == '-' ? "-" : "") + text.substr(digits);
}

/// A label with enough digits to distinguish ticks that are `step` apart.
std::string tick_label(double value, double step, double greatest) {
  const auto decimals = static_cast<int>(-std::floor(std::log10(step) + 1e-9));
  if (value == 0) return "0";
  if (greatest < without_exponent && decimals <= 4) {
    return fmt::format("{:.{}f}", value, std::max(decimals, 0));
  }
  const auto digits = static_cast<int>(std::floor(std::log10(std::abs(value)))) + decimals + 1;
  return with_short_exponent(fmt::format("{:.{}g}", value, std::clamp(digits, 1, 12)));
}

/// The label of a power of 10.
std::string decade_label(int exponent) {
  if (exponent < -3 || exponent > 4) return fmt::format("1e{}", exponent);
  return fmt::format("{:.{}f}", std::pow(10, exponent), std::max(-exponent, 0));
}

}  // namespace

std::string number_text(double value) {
  constexpr double longest = 1e9;
  if (std::abs(value) < longest && value == std::round(value)) {
    return fmt::format("{:.0f}", value + 0.0);  // turns -0 into 0
  }
  return with_short_exponent(fmt::format("{:.4g}", value));
}

bool is_plottable(double value) { return std::abs(value) <= largest; }

Axis Axis::linear(std::span<const double> values, int max_ticks, Ends ends) {
  Range measured;
  for (const double value : values) {
    if (is_plottable(value)) measured.include(value);
  }
  Range range = widened(measured);
  // Start at zero if that does not squeeze the values.
  if (ends == Ends::rounded && range.low > 0 && range.low <= range.high / 2) range.low = 0;
  double step = tick_step(range, max_ticks);
  // Integer values get integer ticks.
  if (std::ranges::all_of(values, is_whole)) step = std::max(step, 1.0);
  const bool rounded = ends == Ends::rounded;
  const double first = rounded ? std::floor(range.low / step) : std::ceil(range.low / step - 1e-9);
  const double last = rounded ? std::ceil(range.high / step) : std::floor(range.high / step + 1e-9);

  Axis axis;
  axis.low_ = rounded ? first * step : range.low;
  axis.high_ = rounded ? last * step : range.high;
  const double greatest = std::max(std::abs(first), std::abs(last)) * step;
  for (int i = 0; i <= static_cast<int>(last - first); ++i) {
    const double value = (first + i) * step;
    axis.ticks_.push_back({axis.position(value), tick_label(value, step, greatest)});
  }
  return axis;
}

Axis Axis::logarithmic(std::span<const double> values) {
  Range positive;
  bool zeros = false;
  bool negatives = false;
  for (const double value : values) {
    if (!is_plottable(value)) continue;
    zeros = zeros || value <= 0;
    negatives = negatives || value < 0;
    if (value > 0) positive.include(std::log10(value));
  }
  Axis axis;
  axis.logarithmic_ = true;
  if (!positive.empty()) {
    axis.low_ = std::floor(positive.low);
    axis.high_ = std::ceil(positive.high);
  }
  if (axis.low_ == axis.high_) {
    axis.low_ -= 1;
    axis.high_ += 1;
  }
  if (zeros) {
    axis.floor_ = 0.1;
    axis.ticks_.push_back({0, negatives ? "\u2264 0" : "0"});
  }
  axis.mark_decades();
  return axis;
}

/// Labels at most nine decades. If every decade has a label, adds minor ticks at 2 to 9 times each.
void Axis::mark_decades() {
  const auto low = static_cast<int>(low_);
  const auto high = static_cast<int>(high_);
  const int every = (high - low + 7) / 8;
  const auto at = [this](double exponent) {
    return floor_ + (1 - floor_) * (exponent - low_) / (high_ - low_);
  };
  for (int exponent = low; exponent <= high; ++exponent) {
    if ((exponent - low) % every == 0) ticks_.push_back({at(exponent), decade_label(exponent)});
    if (every > 1 || exponent == high) continue;
    for (int digit = 2; digit <= 9; ++digit) {
      ticks_.push_back({at(exponent + std::log10(digit)), ""});
    }
  }
}

double Axis::position(double value) const {
  if (!logarithmic_) return (value - low_) / (high_ - low_);
  if (value <= 0) return 0;
  return floor_ + (1 - floor_) * (std::log10(value) - low_) / (high_ - low_);
}

}  // namespace boolgrad::picture
