#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boolgrad/core/fail.h"
#include "boolgrad/picture/canvas.h"
#include "boolgrad/picture/plot.h"
#include "boolgrad/picture/plot_style.h"
#include "boolgrad/picture/png.h"

namespace boolgrad::picture {
namespace {

constexpr std::size_t max_labels = 64;
constexpr double top = 84;
constexpr double left = 150;
constexpr Colour right_colour{0x2f, 0x6d, 0xb5};
constexpr Colour wrong_colour{0xc0, 0x4a, 0x2f};

/// White for 0, the colour for 1.
Colour shade(Colour colour, double share) {
  const auto mixed = [&](std::uint8_t part) {
    return static_cast<std::uint8_t>(std::lround(255 + (part - 255) * share));
  };
  return {mixed(colour.red), mixed(colour.green), mixed(colour.blue)};
}

void check(const MatrixChart& chart) {
  const std::size_t count = chart.labels.size();
  const bool is_square =
      chart.values.size() == count &&
      std::ranges::all_of(chart.values, [&](const auto& row) { return row.size() == count; });
  if (count == 0 || count > max_labels || !is_square) {
    fail("plot", "expected a square matrix of 1 to {} labels, received {} rows for {} labels",
         max_labels, chart.values.size(), count);
  }
}

}  // namespace

void save_matrix_chart(const std::filesystem::path& path, const MatrixChart& chart) {
  check(chart);
  const std::size_t count = chart.labels.size();
  const double cell = std::clamp(560.0 / static_cast<double>(count), 34.0, 56.0);
  const double side = cell * static_cast<double>(count);
  const auto width = static_cast<int>(std::max(480.0, std::ceil(left + side + margin)));
  Canvas canvas(width, static_cast<int>(std::ceil(top + side + margin)));
  canvas.text({margin, 28}, canvas.shortened(chart.title, width - 2 * margin, title_style),
              title_style);
  canvas.text({left, 52}, chart.column_label, legend_style);
  canvas.text({margin, top - 14}, chart.row_label, legend_style);
  for (std::size_t r = 0; r < count; ++r) {
    const double y = top + cell * static_cast<double>(r);
    const double x0 = left + cell * static_cast<double>(r);
    TextStyle row_style = tick_style;
    row_style.align = Align::right;
    canvas.text({left - 8, y + cell / 2},
                canvas.shortened(chart.labels[r], left - margin - 8, row_style), row_style);
    TextStyle column_style = tick_style;
    column_style.align = Align::centre;
    canvas.text({x0 + cell / 2, top - 12},
                canvas.shortened(chart.labels[r], cell - 4, column_style), column_style);
    double total = 0;
    for (const double value : chart.values[r]) total += value;
    for (std::size_t c = 0; c < count; ++c) {
      const double x = left + cell * static_cast<double>(c);
      const double share = total > 0 ? chart.values[r][c] / total : 0;
      // The square root makes rare errors visible.
      const Colour colour = r == c ? right_colour : wrong_colour;
      canvas.rectangle({x, y}, cell - 1, cell - 1, shade(colour, std::sqrt(share)));
      TextStyle style = tick_style;
      style.align = Align::centre;
      style.colour = share > 0.3 ? white : ink;
      canvas.text({x + cell / 2, y + cell / 2}, fmt::format("{}", chart.values[r][c]), style);
    }
  }
  write_png(path, canvas.image());
}

}  // namespace boolgrad::picture
