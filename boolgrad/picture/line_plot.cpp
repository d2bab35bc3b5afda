#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"
#include "boolgrad/picture/axis.h"
#include "boolgrad/picture/canvas.h"
#include "boolgrad/picture/plot.h"
#include "boolgrad/picture/plot_style.h"
#include "boolgrad/picture/png.h"

namespace boolgrad::picture {
namespace {

constexpr int width = 800;
constexpr int height = 500;

constexpr std::array<Colour, 8> series_colours = {{{0x2f, 0x6d, 0xb5},
                                                   {0xd9, 0x7a, 0x1e},
                                                   {0x2f, 0x92, 0x5d},
                                                   {0xc2, 0x3f, 0x49},
                                                   {0x7d, 0x64, 0xb4},
                                                   {0x8a, 0x6a, 0x52},
                                                   {0xcb, 0x6a, 0xa8},
                                                   {0x6b, 0x74, 0x7d}}};

struct SeriesStyle {
  Colour colour;
  bool dashed;  ///< if the colours are used a second time
};

SeriesStyle style_of(std::size_t series) {
  return {series_colours[series % series_colours.size()], series / series_colours.size() % 2 == 1};
}

bool is_plottable(const Series& series, std::size_t i) {
  return boolgrad::picture::is_plottable(series.x[i]) &&
         boolgrad::picture::is_plottable(series.y[i]);
}

/// The values of one coordinate over all series.
std::vector<double> gathered(const LinePlot& plot, std::vector<double> Series::*coordinate) {
  std::vector<double> values;
  for (const Series& series : plot.series) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (is_plottable(series, i)) values.push_back((series.*coordinate)[i]);
    }
  }
  return values;
}

/// Keeps the first, lowest, highest and last of consecutive points in the same pixel column. The
/// plot looks the same, and the time to draw it depends on its width, not on the number of points.
std::vector<Point> thinned(const std::vector<Point>& points) {
  std::vector<Point> kept;
  for (std::size_t first = 0; first < points.size();) {
    std::size_t last = first;
    std::size_t least = first;
    std::size_t most = first;
    for (std::size_t i = first;
         i < points.size() && std::floor(points[i].x) == std::floor(points[first].x); ++i) {
      last = i;
      if (points[i].y < points[least].y) least = i;
      if (points[i].y > points[most].y) most = i;
    }
    std::array<std::size_t, 4> chosen = {first, least, most, last};
    std::ranges::sort(chosen);
    const auto end = std::unique(chosen.begin(), chosen.end());
    std::for_each(chosen.begin(), end, [&](std::size_t i) { kept.push_back(points[i]); });
    first = last + 1;
  }
  return kept;
}

class LinePlotDrawing {
 public:
  explicit LinePlotDrawing(const LinePlot& plot)
      : plot_(plot),
        x_values_(gathered(plot, &Series::x)),
        x_(plot.log_x ? Axis::logarithmic(x_values_) : Axis::linear(x_values_, 8, Ends::exact)),
        y_(y_axis(plot)) {}

  Image draw() {
    canvas_.text({margin, 28}, canvas_.shortened(plot_.title, width - 2 * margin, title_style),
                 title_style);
    draw_legend();
    place_area();
    draw_axes();
    for (std::size_t i = 0; i < plot_.series.size(); ++i) draw_series(i);
    if (x_values_.empty()) {
      canvas_.text({(left_ + right_) / 2, (top_ + bottom_) / 2}, "no values", note_style);
    }
    return canvas_.image();
  }

 private:
  static constexpr double legend_row = 20;

  static Axis y_axis(const LinePlot& plot) {
    std::vector<double> values = gathered(plot, &Series::y);
    values.insert(values.end(), plot.y_includes.begin(), plot.y_includes.end());
    return plot.log_y ? Axis::logarithmic(values) : Axis::linear(values, 6, Ends::rounded);
  }

  /// Up to four rows below the title. Further series are only counted.
  void draw_legend() {
    constexpr int max_rows = 4;
    constexpr double swatch = 22;
    constexpr double gap = 24;
    constexpr double longest_name = 240;
    top_ = 52;
    if (plot_.series.size() == 1 && plot_.series[0].name.empty()) return;
    double x = margin;
    for (std::size_t i = 0; i < plot_.series.size(); ++i) {
      const std::string name = canvas_.shortened(plot_.series[i].name, longest_name, legend_style);
      const double taken = swatch + 6 + canvas_.text_width(name, legend_style);
      if (x > margin && x + taken > width - margin) {
        x = margin;
        top_ += legend_row;
      }
      // Leave space for the count in the last row.
      const bool last_row = top_ >= 52 + (max_rows - 1) * legend_row;
      const std::size_t left_over = plot_.series.size() - i;
      if (last_row && left_over > 1 && x + taken > width - margin - 100) {
        canvas_.text({x, top_}, fmt::format("and {} more", left_over), legend_style);
        break;
      }
      const SeriesStyle style = style_of(i);
      canvas_.path(std::array<Point, 2>{{{x, top_}, {x + swatch, top_}}}, style.colour, 2.5,
                   style.dashed);
      canvas_.text({x + swatch + 6, top_}, name, legend_style);
      x += taken + gap;
    }
    if (!plot_.series.empty()) top_ += legend_row;
  }

  /// Leaves space for the labels of the axes.
  void place_area() {
    double widest = 0;
    for (const Tick& tick : y_.ticks()) {
      widest = std::max(widest, canvas_.text_width(tick.label, tick_style));
    }
    left_ = margin + (plot_.y_label.empty() ? 0 : 22) + widest + 10;
    right_ = width - margin - 8;
    top_ += 6;
    bottom_ = height - (plot_.x_label.empty() ? 40 : 62);
  }

  double x_at(double position) const { return left_ + position * (right_ - left_); }
  double y_at(double position) const { return bottom_ - position * (bottom_ - top_); }

  /// The middle of a pixel, where a thin line is sharp.
  static double sharp(double coordinate) { return std::floor(coordinate) + 0.5; }

  void draw_axes() {
    TextStyle y_style = tick_style;
    y_style.align = Align::right;
    for (const Tick& tick : y_.ticks()) {
      const double y = sharp(y_at(tick.position));
      canvas_.line({left_, y}, {right_, y}, tick.label.empty() ? faint_colour : grid_colour);
      canvas_.text({left_ - 8, y}, tick.label, y_style);
    }
    TextStyle x_style = tick_style;
    x_style.align = Align::centre;
    for (const Tick& tick : x_.ticks()) {
      const double x = sharp(x_at(tick.position));
      canvas_.line({x, bottom_}, {x, bottom_ + 4}, axis_colour);
      canvas_.text({x, bottom_ + 16}, tick.label, x_style);
    }
    canvas_.line({left_, sharp(bottom_)}, {right_, sharp(bottom_)}, axis_colour);
    TextStyle name_style = label_style;
    name_style.align = Align::centre;
    canvas_.text({(left_ + right_) / 2, height - 22},
                 canvas_.shortened(plot_.x_label, right_ - left_, name_style), name_style);
    canvas_.upward_text({margin + 4, (top_ + bottom_) / 2},
                        canvas_.shortened(plot_.y_label, bottom_ - top_, name_style), name_style);
  }

  void draw_series(std::size_t index) {
    const Series& series = plot_.series[index];
    std::vector<Point> run;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (is_plottable(series, i)) {
        run.push_back({x_at(x_.position(series.x[i])), y_at(y_.position(series.y[i]))});
      } else {
        draw_run(run, style_of(index));
        run.clear();
      }
    }
    draw_run(run, style_of(index));
  }

  void draw_run(const std::vector<Point>& points, const SeriesStyle& style) {
    const std::vector<Point> kept = thinned(points);
    if (kept.size() == 1) canvas_.dot(kept[0], 3, style.colour);
    if (kept.size() > 1) canvas_.path(kept, style.colour, 1.8, style.dashed);
  }

  const LinePlot& plot_;
  std::vector<double> x_values_;
  Axis x_;
  Axis y_;
  Canvas canvas_{width, height};
  double left_ = 0;
  double right_ = 0;
  double top_ = 0;
  double bottom_ = 0;
};

}  // namespace

void save_line_plot(const std::filesystem::path& path, const LinePlot& plot) {
  for (const Series& series : plot.series) {
    if (series.x.size() != series.y.size()) {
      fail("plot", "expected {} y values to match the x values of '{}', received {}",
           series.x.size(), printable(series.name), series.y.size());
    }
  }
  write_png(path, LinePlotDrawing(plot).draw());
}

}  // namespace boolgrad::picture
