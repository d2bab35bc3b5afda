#include "boolgrad/picture/plot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "boolgrad/picture/png.h"
#include "tests/support/messages.h"
#include "tests/support/scratch.h"

namespace boolgrad::picture {
namespace {

using testing_support::read_bytes;
using testing_support::ScratchFolder;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Whether a pixel belongs to the first series or to a bar, anti-aliased edges included.
bool is_drawn(Colour colour) { return colour.blue > colour.red + 60; }

class Plot : public ::testing::Test {
 protected:
  Image draw(const LinePlot& plot) {
    save_line_plot(path_, plot);
    return read_png(path_);
  }
  Image draw(const BarChart& chart) {
    save_bar_chart(path_, chart);
    return read_png(path_);
  }

  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "plot.png";
};

std::int64_t drawn(const Image& image) { return std::ranges::count_if(image.pixels, is_drawn); }

/// The number of such pixels in row y.
std::int64_t drawn_in_row(const Image& image, std::int64_t y) {
  const auto row = image.pixels.begin() + y * image.width;
  return std::count_if(row, row + image.width, is_drawn);
}

LinePlot one_series(std::vector<double> x, std::vector<double> y, bool log_y = false) {
  return {"title", "step", "loss", log_y, {{"", std::move(x), std::move(y)}}};
}

TEST_F(Plot, HasItsSizeAndSomethingOnIt) {
  const Image image = draw(one_series({0, 1, 2}, {3, 1, 2}));
  EXPECT_EQ(image.width, 800);
  EXPECT_EQ(image.height, 500);
  EXPECT_GT(drawn(image), 300);
  EXPECT_GT(std::ranges::count(image.pixels, white), 300'000);
}

TEST_F(Plot, DrawsTheSameTwice) {
  draw(one_series({0, 1}, {3, 1}));
  const std::string first = read_bytes(path_);
  draw(one_series({0, 1}, {3, 1}));
  EXPECT_EQ(read_bytes(path_), first);
}

/// The row of a flat line, which spans the whole plot.
std::int64_t row_of_line(const Image& image) {
  for (std::int64_t y = 0; y < image.height; ++y) {
    if (drawn_in_row(image, y) > 300) return y;
  }
  return -1;
}

// Zeros are drawn at the bottom of a logarithmic plot.
TEST_F(Plot, DrawsZerosBelowTheLowestDecade) {
  const std::int64_t zeros = row_of_line(draw(one_series({0, 1, 2}, {0, 0, 0}, true)));
  const std::int64_t ones = row_of_line(draw(one_series({0, 1, 2}, {1, 1, 1}, true)));
  EXPECT_GT(zeros, 430);
  EXPECT_GT(ones, 100);
  EXPECT_LT(ones, 400);
}

TEST_F(Plot, IncludesTheRequestedValues) {
  LinePlot plot = one_series({0, 1, 2}, {1, 1, 1});
  plot.y_includes = {0, 100};
  EXPECT_GT(row_of_line(draw(plot)), 420) << "near the foot of 0 to 100";
}

// Dots at 1, 10 and 1000: the second gap is twice the first.
TEST_F(Plot, SupportsALogarithmicXAxis) {
  LinePlot plot = one_series({1, nan, 10, nan, 1000}, {1, nan, 1, nan, 1});
  plot.log_x = true;
  const Image image = draw(plot);
  std::vector<std::int64_t> left_edges;
  bool before = false;
  for (std::int64_t x = 0; x < image.width; ++x) {
    bool now = false;
    for (std::int64_t y = 0; y < image.height; ++y) {
      now = now || is_drawn(image.pixels[static_cast<std::size_t>(y * image.width + x)]);
    }
    if (now && !before) left_edges.push_back(x);
    before = now;
  }
  ASSERT_EQ(left_edges.size(), 3U);
  EXPECT_NEAR(static_cast<double>(left_edges[2] - left_edges[1]),
              2.0 * static_cast<double>(left_edges[1] - left_edges[0]), 4);
}

TEST_F(Plot, AcceptsDegenerateSeries) {
  for (const bool log_y : {false, true}) {
    EXPECT_GT(drawn(draw(one_series({5}, {5}, log_y))), 5) << "a dot";
    EXPECT_GT(drawn(draw(one_series({1, 1, 1}, {2, 2, 2}, log_y))), 0);
    EXPECT_GT(drawn(draw(one_series({0, 1, 2, 3}, {1, nan, 2, infinity}, log_y))), 5);
    EXPECT_GT(drawn(draw(one_series({0, 1}, {-1e300, 1e300}, log_y))), 50);
    EXPECT_EQ(drawn(draw(one_series({0, nan}, {nan, 1}, log_y))), 0);
    EXPECT_EQ(drawn(draw(one_series({}, {}, log_y))), 0);
    EXPECT_EQ(drawn(draw(LinePlot{"", "", "", log_y, {}})), 0);
  }
}

TEST_F(Plot, BreaksTheLineAtAGap) {
  const auto with = [this](double middle) {
    return drawn(draw(one_series({0, 1, 2, 3, 4}, {1, 1, middle, 1, 1})));
  };
  EXPECT_LT(with(nan), with(1) * 3 / 4);
}

// Points in the same pixel column are drawn as their range: the peak remains.
TEST_F(Plot, DrawsLongSeriesWithTheirPeaks) {
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < 1'000'000; ++i) {
    x.push_back(i);
    y.push_back(i == 654'321 ? 10 : 0);
  }
  EXPECT_GT(drawn(draw(one_series(x, y))), 500 + 300);
}

TEST_F(Plot, HasRoomForManyAndLongNames) {
  LinePlot plot{std::string(500, 'T'), std::string(500, 'x'), std::string(500, 'y'), false, {}};
  for (int i = 0; i < 40; ++i) {
    plot.series.push_back(
        {std::string(static_cast<std::size_t>(5 * i), 'n'), {0, 1}, {0.0, 1.0 * i}});
  }
  EXPECT_GT(drawn(draw(plot)), 100);
}

TEST_F(Plot, EscapesTextThatIsNotUtf8) {
  const Image escaped = draw(LinePlot{"caf\xE9", "", "", false, {}});
  EXPECT_EQ(escaped.pixels, draw(LinePlot{"caf\\xE9", "", "", false, {}}).pixels);
}

TEST_F(Plot, RejectsInvalidData) {
  expect_error(
      [&] {
        draw(LinePlot{"", "", "", false, {{"loss", {1, 2}, {1}}}});
      },
      "[plot] expected 2 y values to match the x values of 'loss', received 1");
  expect_error(
      [&] {
        draw(BarChart{"", "", {"a"}, {}});
      },
      "[plot] expected one value per label, received 0 values for 1 labels");
  expect_error(
      [&] {
        draw(BarChart{"", "", std::vector<std::string>(501), std::vector<double>(501)});
      },
      "[plot] expected at most 500 bars, received 501");
  path_ = folder_ / "none" / "plot.png";
  expect_error([&] { draw(LinePlot{}); },
               "[png] cannot create " + path_.string() + ": No such file or directory");
}

TEST_F(Plot, DrawsBarsInProportion) {
  const Image image = draw(BarChart{"Gates", "", {"A AND NOT B", "A", "zero"}, {100, 50, 0}});
  EXPECT_EQ(image.width, 800);
  const std::int64_t row = (image.height - 52 - 20) / 3;
  EXPECT_NEAR(static_cast<double>(drawn_in_row(image, 52 + row / 2)),
              2.0 * static_cast<double>(drawn_in_row(image, 52 + row + row / 2)), 3);
  EXPECT_EQ(drawn_in_row(image, 52 + 2 * row + row / 2), 0);
}

TEST_F(Plot, GrowsWithItsBars) {
  const auto height = [this](std::size_t bars) {
    return draw(BarChart{"", "", std::vector<std::string>(bars, "label"),
                         std::vector<double>(bars, 1)})
        .height;
  };
  EXPECT_LE(height(16), 500);
  EXPECT_GT(height(20), 20 * 22);
  EXPECT_GT(height(500), 500 * 22);
}

TEST_F(Plot, AcceptsDegenerateBars) {
  EXPECT_EQ(drawn(draw(BarChart{})), 0);
  EXPECT_EQ(drawn(draw(BarChart{"", "", {"a", "b"}, {0, 0}})), 0);
  EXPECT_EQ(drawn(draw(BarChart{"", "", {"a"}, {nan}})), 0);
  EXPECT_GT(drawn(draw(BarChart{"", "", {"a", "b", "c"}, {-1e300, 1e300, infinity}})), 1000);
  EXPECT_GT(drawn(draw(BarChart{"", "", {"a", std::string(400, 'b')}, {-2, -1}})), 1000);
}

TEST_F(Plot, ShadesAMatrixByTheShareOfTheRow) {
  const MatrixChart chart{.title = "confusion matrix",
                          .row_label = "class",
                          .column_label = "predicted",
                          .labels = {"a", "b"},
                          .values = {{90, 10}, {0, 50}}};
  save_matrix_chart(path_, chart);
  const Image image = read_png(path_);
  const auto sum = [&](std::int64_t column, std::int64_t row) {
    const Colour colour = image.at(154 + 56 * column, 88 + 56 * row);  // a corner of the square
    return colour.red + colour.green + colour.blue;
  };
  EXPECT_LT(sum(0, 0), sum(1, 0));
  EXPECT_LT(sum(1, 0), sum(0, 1));
  EXPECT_EQ(sum(0, 1), 3 * 255);
  EXPECT_LT(sum(1, 1), sum(0, 0));
}

TEST_F(Plot, RejectsAMatrixThatIsNotSquare) {
  expect_error(
      [&] {
        save_matrix_chart(path_, {"", "", "", {"a", "b"}, {{1, 2}}});
      },
      "[plot] expected a square matrix of 1 to 64 labels, received 1 rows for 2 labels");
}

}  // namespace
}  // namespace boolgrad::picture
