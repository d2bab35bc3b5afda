// Plots, saved as PNG.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace boolgrad::picture {

/// A series of points.
struct Series {
  std::string name;       ///< for the legend; a single series without a name has no legend
  std::vector<double> x;  ///< x coordinates
  std::vector<double> y;  ///< y coordinates
};

/// A line plot of one or more series.
struct LinePlot {
  std::string title;    ///< shown above the plot
  std::string x_label;  ///< label of the x axis
  std::string y_label;  ///< label of the y axis
  /// Logarithmic y axis. Values at or below 0 are drawn below the lowest decade, at a tick labelled
  /// 0 (≤ 0 if some are negative).
  bool log_y = false;
  std::vector<Series> series;           ///< the lines
  bool log_x = false;                   ///< logarithmic x axis, likewise
  std::vector<double> y_includes = {};  ///< values that the y axis always includes
};

/// Saves a line plot of 800 by 500 pixels as PNG. Points are joined in the given order.
///
/// Points that are not finite, or beyond 1e300, break the line. An isolated point is drawn as a
/// dot. A series may have millions of points. A plot without points shows "no values".
void save_line_plot(const std::filesystem::path& path, const LinePlot& plot);

/// A chart of horizontal bars.
struct BarChart {
  std::string title;                ///< shown above the chart
  std::string value_label;          ///< unit of the values, shown below the title
  std::vector<std::string> labels;  ///< one per bar, at most 500
  std::vector<double> values;       ///< one per label
};

/// Saves a bar chart as PNG: 800 by about 500 pixels, higher for more than 18 bars. A value that is
/// not finite has no bar.
void save_bar_chart(const std::filesystem::path& path, const BarChart& chart);

/// A matrix of counts, such as a confusion matrix.
struct MatrixChart {
  std::string title;                        ///< shown above the matrix
  std::string row_label;                    ///< meaning of the rows
  std::string column_label;                 ///< meaning of the columns
  std::vector<std::string> labels;          ///< 1 to 64 labels of rows and columns
  std::vector<std::vector<double>> values;  ///< non-negative, one row per label
};

/// Saves a matrix as PNG, with one square per value: blue on the diagonal and red elsewhere, darker
/// for a larger share of the row.
void save_matrix_chart(const std::filesystem::path& path, const MatrixChart& chart);

}  // namespace boolgrad::picture
