// Plots, saved as PNG.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace boolgrad {

struct Series {
  std::string name;  ///< in the legend; a lone series without a name needs none
  std::vector<double> x;
  std::vector<double> y;
};

struct LinePlot {
  std::string title;
  std::string x_label;
  std::string y_label;
  /// Values at or below 0 have no logarithm; they are drawn on a floor below the lowest decade,
  /// labelled 0, or ≤ 0 where some are negative.
  bool log_y = false;
  std::vector<Series> series;
  bool log_x = false;                   ///< the same along the other axis
  std::vector<double> y_includes = {};  ///< values that the axis reaches in any case
};

/// Draws the points of each series, in the order given, joined by lines: 800 by 500 pixels.
///
/// Points that are not finite, or beyond 1e300, are left out and break the line. A point without
/// neighbours is a dot. A series may have millions of points; those that share a column of pixels
/// are drawn as their range. A plot without points says so.
void save_line_plot(const std::filesystem::path& path, const LinePlot& plot);

struct BarChart {
  std::string title;
  std::string value_label;  ///< what the values count, below the title
  std::vector<std::string> labels;
  std::vector<double> values;  ///< as many as labels
};

/// Draws a horizontal bar for each value, from the top, its label before it and the value behind:
/// 800 by about 500 pixels, higher where there are more than 18 bars. A value that is not finite
/// has no bar.
void save_bar_chart(const std::filesystem::path& path, const BarChart& chart);

struct MatrixChart {
  std::string title;
  std::string row_label;                    ///< what rows are
  std::string column_label;                 ///< what columns are
  std::vector<std::string> labels;          ///< 1 to 64, of rows and columns
  std::vector<std::vector<double>> values;  ///< 0 or more, a row a label
};

/// Draws a square for each value, the darker the larger its share of its row: blue on the diagonal
/// and red elsewhere.
void save_matrix_chart(const std::filesystem::path& path, const MatrixChart& chart);

}  // namespace boolgrad
