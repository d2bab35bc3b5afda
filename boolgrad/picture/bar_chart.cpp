#include <algorithm>
#include <cmath>

#include "boolgrad/core/fail.h"
#include "boolgrad/picture/axis.h"
#include "boolgrad/picture/canvas.h"
#include "boolgrad/picture/plot.h"
#include "boolgrad/picture/plot_style.h"
#include "boolgrad/picture/png.h"

namespace boolgrad::picture {
namespace {

constexpr int width = 800;
constexpr std::size_t max_bars = 500;
constexpr double below = 20;  // the last bar
constexpr double gap = 8;     // between a bar and its label
constexpr Colour bar_colour{0x2f, 0x6d, 0xb5};

class BarChartDrawing {
 public:
  explicit BarChartDrawing(const BarChart& chart)
      : chart_(chart),
        top_(chart.value_label.empty() ? 52 : 72),
        row_(row_height(chart.values.size(), top_)),
        canvas_(width, image_height()) {}

  Image draw() {
    canvas_.text({margin, 28}, canvas_.shortened(chart_.title, width - 2 * margin, title_style),
                 title_style);
    canvas_.text({margin, 52},
                 canvas_.shortened(chart_.value_label, width - 2 * margin, legend_style),
                 legend_style);
    if (chart_.values.empty()) {
      canvas_.text({width / 2.0, image_height() / 2.0}, "no values", note_style);
      return canvas_.image();
    }
    place_area();
    for (std::size_t i = 0; i < chart_.values.size(); ++i) draw_bar(i);
    const double zero = std::floor(x_at(0)) + 0.5;
    canvas_.line({zero, top_}, {zero, top_ + row_ * static_cast<double>(chart_.values.size())},
                 axis_colour);
    return canvas_.image();
  }

 private:
  /// Bars share 500 pixels until they get too thin to read.
  static double row_height(std::size_t bars, double top) {
    const double room = 500 - top - below;
    return std::clamp(room / static_cast<double>(std::max<std::size_t>(bars, 1)), 22.0, 44.0);
  }

  int image_height() const {
    const auto bars = static_cast<double>(std::max<std::size_t>(chart_.values.size(), 2));
    return static_cast<int>(std::ceil(top_ + row_ * bars + below));
  }

  /// Labels are on the left, values at the ends of the bars.
  void place_area() {
    constexpr double widest_label = 320;
    double numbers = 0;
    for (std::size_t i = 0; i < chart_.values.size(); ++i) {
      labels_.push_back(canvas_.shortened(chart_.labels[i], widest_label, label_style));
      label_width_ = std::max(label_width_, canvas_.text_width(labels_[i], label_style));
      numbers = std::max(numbers, canvas_.text_width(number_text(chart_.values[i]), tick_style));
      if (!is_plottable(chart_.values[i])) continue;
      lowest_ = std::min(lowest_, chart_.values[i]);
      highest_ = std::max(highest_, chart_.values[i]);
    }
    left_ = margin + label_width_ + 12 + (lowest_ < 0 ? numbers + gap : 0);
    right_ = width - margin - numbers - gap;
    if (lowest_ == highest_) highest_ = 1;
  }

  double x_at(double value) const {
    return left_ + (right_ - left_) * (value - lowest_) / (highest_ - lowest_);
  }

  void draw_bar(std::size_t i) {
    const double value = chart_.values[i];
    const double middle = top_ + row_ * (static_cast<double>(i) + 0.5);
    const double thickness = std::min(0.68 * row_, 22.0);
    TextStyle left_of_bar = label_style;
    left_of_bar.align = Align::right;
    canvas_.text({margin + label_width_, middle}, labels_[i], left_of_bar);
    const double end = is_plottable(value) ? x_at(value) : x_at(0);
    const double from = std::min(x_at(0), end);
    const double length = std::abs(end - x_at(0));
    canvas_.rectangle({from, middle - thickness / 2}, length, thickness, bar_colour);
    TextStyle behind = tick_style;
    behind.align = value < 0 && is_plottable(value) ? Align::right : Align::left;
    canvas_.text({behind.align == Align::right ? end - gap : end + gap, middle}, number_text(value),
                 behind);
  }

  const BarChart& chart_;
  double top_;
  double row_;
  Canvas canvas_;
  std::vector<std::string> labels_;  ///< shortened to fit
  double label_width_ = 0;
  double left_ = 0;
  double right_ = 0;
  double lowest_ = 0;
  double highest_ = 0;
};

}  // namespace

void save_bar_chart(const std::filesystem::path& path, const BarChart& chart) {
  if (chart.labels.size() != chart.values.size()) {
    fail("plot", "expected one value per label, received {} values for {} labels",
         chart.values.size(), chart.labels.size());
  }
  if (chart.values.size() > max_bars) {
    fail("plot", "expected at most {} bars, received {}", max_bars, chart.values.size());
  }
  write_png(path, BarChartDrawing(chart).draw());
}

}  // namespace boolgrad::picture
