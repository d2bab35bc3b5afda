#include "boolgrad/data/binarisation.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/messages.h"

namespace boolgrad::data {
namespace {

std::vector<float> levels_of(const logic::Thresholds& thresholds) {
  const auto levels = thresholds.values().values<float>();
  return {levels.begin(), levels.end()};
}

std::vector<std::int32_t> sources_of(const logic::Thresholds& thresholds) {
  return {thresholds.sources().begin(), thresholds.sources().end()};
}

/// Two features: 0 to 9, and one that is always 7.
Tensor numbers() {
  std::vector<float> values;
  for (int i = 0; i < 10; ++i) {
    values.push_back(static_cast<float>(i));
    values.push_back(7);
  }
  return Tensor::of(values, {10, 2});
}

TEST(Binarisation, PlacesOneThresholdWithinTheRange) {
  const logic::Thresholds thresholds =
      make_thresholds(numbers(), {.kind = BinarisationKind::threshold, .threshold = 0.25});
  EXPECT_EQ(sources_of(thresholds), (std::vector<std::int32_t>{0}));
  EXPECT_EQ(levels_of(thresholds), (std::vector<float>{2.25F}));
}

TEST(Binarisation, SpacesUniformThresholdsEqually) {
  const logic::Thresholds thresholds =
      make_thresholds(numbers(), {.kind = BinarisationKind::uniform, .count = 2});
  EXPECT_EQ(levels_of(thresholds), (std::vector<float>{3, 6}));
}

TEST(Binarisation, PutsEquallyManySamplesBetweenQuantiles) {
  const Tensor skewed = Tensor::of<float>({0, 0, 0, 0, 1, 2, 100, 1000}, {8, 1});
  const logic::Thresholds thresholds =
      make_thresholds(skewed, {.kind = BinarisationKind::quantile, .count = 3});
  // The first quarter ends within the zeros, which no threshold can split.
  EXPECT_EQ(levels_of(thresholds), (std::vector<float>{0.5F, 51}));
  const logic::BitMatrix bits = thresholds.bits_of(skewed);
  EXPECT_TRUE(bits.at(0, 4));
  EXPECT_FALSE(bits.at(0, 3));
}

TEST(Binarisation, GivesTwoValuesOneThreshold) {
  const Tensor flags = Tensor::of<std::uint8_t>({0, 1, 1, 0}, {4, 1});
  for (const auto kind : {BinarisationKind::uniform, BinarisationKind::quantile}) {
    EXPECT_EQ(levels_of(make_thresholds(flags, {.kind = kind, .count = 5})),
              (std::vector<float>{0.5F}));
  }
}

TEST(Binarisation, UsesTheWholeRangeOfBytes) {
  const Tensor pixels = Tensor::of<std::uint8_t>({0, 200, 100, 40}, {4, 1});
  EXPECT_EQ(levels_of(make_thresholds(pixels, {})), (std::vector<float>{127.5F}));
}

TEST(Binarisation, DropsBitsThatRarelyVary) {
  std::vector<float> values(100, 0);
  values[3] = 1;
  const Tensor rare = Tensor::of(values, {100, 1});
  EXPECT_EQ(make_thresholds(rare, {.min_share = 0.01}).bits(), 1);
  expect_error([&] { make_thresholds(rare, {.min_share = 0.02}); },
               "[binarisation] expected at least one feature that varies between samples, received "
               "none");
}

}  // namespace
}  // namespace boolgrad::data
