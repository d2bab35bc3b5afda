#include "boolgrad/picture/axis.h"

#include <gtest/gtest.h>

#include <limits>

namespace boolgrad::picture {
namespace {

using Values = std::vector<double>;
using Labels = std::vector<std::string>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// The labels of all major ticks. Checks that all ticks are on the axis, in ascending order.
Labels labels_of(const Axis& axis) {
  Labels labels;
  double last = 0;
  for (const Tick& tick : axis.ticks()) {
    EXPECT_GE(tick.position, last - 1e-9);
    EXPECT_LE(tick.position, 1 + 1e-9);
    last = tick.position;
    if (!tick.label.empty()) labels.push_back(tick.label);
  }
  return labels;
}

Labels exact(const Values& values) { return labels_of(Axis::linear(values, 8, Ends::exact)); }
Labels rounded(const Values& values) { return labels_of(Axis::linear(values, 6, Ends::rounded)); }
Labels logarithmic(const Values& values) { return labels_of(Axis::logarithmic(values)); }

TEST(Axis, MarksRoundNumbers) {
  EXPECT_EQ(exact({0, 2999}), (Labels{"0", "500", "1000", "1500", "2000", "2500"}));
  EXPECT_EQ(rounded({0.01, 0.93}), (Labels{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(rounded({-0.3, 0.3}), (Labels{"-0.3", "-0.2", "-0.1", "0", "0.1", "0.2", "0.3"}));
  EXPECT_EQ(rounded({0, 2.2e6}), (Labels{"0", "5e5", "1e6", "1.5e6", "2e6", "2.5e6"}));
}

TEST(Axis, MarksIntegersOnlyForIntegerValues) {
  EXPECT_EQ(exact({0, 1, 2}), (Labels{"0", "1", "2"}));
  EXPECT_EQ(exact({3}), (Labels{"3"}));
}

TEST(Axis, PlacesValues) {
  const Axis axis = Axis::linear(Values{10, 20}, 5, Ends::exact);
  EXPECT_DOUBLE_EQ(axis.position(10), 0);
  EXPECT_DOUBLE_EQ(axis.position(15), 0.5);
  EXPECT_DOUBLE_EQ(axis.position(20), 1);
}

TEST(Axis, MarksDecades) {
  EXPECT_EQ(logarithmic({0.002, 30}), (Labels{"0.001", "0.01", "0.1", "1", "10", "100"}));
  EXPECT_EQ(logarithmic({1}), (Labels{"0.1", "1", "10"}));
  EXPECT_EQ(logarithmic({1e-12, 1}),
            (Labels{"1e-12", "1e-10", "1e-8", "1e-6", "1e-4", "0.01", "1"}));
}

TEST(Axis, ShowsZeroBelowTheLowestDecade) {
  EXPECT_EQ(logarithmic({0, 1, 100}), (Labels{"0", "1", "10", "100"}));
  EXPECT_EQ(logarithmic({0, 0}), (Labels{"0", "1", "10"}));
  EXPECT_EQ(logarithmic({-2, 1, 10}), (Labels{"\u2264 0", "1", "10"}));
  const Axis axis = Axis::logarithmic(Values{0, 1, 100});
  EXPECT_EQ(axis.position(0), 0);
  EXPECT_EQ(axis.position(-5), 0);
  EXPECT_GT(axis.position(1), 0.05);
  EXPECT_DOUBLE_EQ(axis.position(100), 1);
  EXPECT_DOUBLE_EQ(axis.position(10), (axis.position(1) + axis.position(100)) / 2);
}

TEST(Axis, AcceptsAnyValues) {
  const std::vector<Values> all = {
      {},      {nan, infinity},  {5, nan, -infinity}, {1e300, -1e300},
      {1e308}, {5e-324, 1e-310}, {1e15, 1e15 + 1},    {0.1, 0.1 + 1e-16},
      {-7.25}, {1e-300, 1e300}};
  for (const Values& values : all) {
    EXPECT_LE(exact(values).size(), 10U);
    EXPECT_GE(rounded(values).size(), 2U);
    EXPECT_GE(logarithmic(values).size(), 2U);
    EXPECT_LE(logarithmic(values).size(), 10U);
    for (const Axis& axis : {Axis::linear(values, 6, Ends::rounded), Axis::logarithmic(values)}) {
      for (const double value : values) {
        if (!is_plottable(value)) continue;
        EXPECT_GE(axis.position(value), 0);
        EXPECT_LE(axis.position(value), 1);
      }
    }
  }
}

TEST(Axis, WritesNumbersShort) {
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(-0.0), "0");
  EXPECT_EQ(number_text(1234567), "1234567");
  EXPECT_EQ(number_text(0.25), "0.25");
  EXPECT_EQ(number_text(2.0 / 3), "0.6667");
  EXPECT_EQ(number_text(2.5e12), "2.5e12");
  EXPECT_EQ(number_text(3e-7), "3e-7");
  EXPECT_EQ(number_text(nan), "nan");
}

}  // namespace
}  // namespace boolgrad::picture
