#include "boolgrad/core/random.h"

#include <gtest/gtest.h>

#include <cmath>

namespace boolgrad {
namespace {

// Known answers of the authors' library, Random123 (kat_vectors, philox4x32-10).
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, EveryPartOfAnAddressMatters) {
  const RandomAddress base{.seed = 1, .stream = 2, .step = 3, .index = 4};
  RandomAddress other = base;
  other.seed += std::uint64_t{1} << 40;
  EXPECT_NE(random_bits(base), random_bits(other));
  other = base;
  other.stream += 1;
  EXPECT_NE(random_bits(base), random_bits(other));
  other = base;
  other.step += 1;
  EXPECT_NE(random_bits(base), random_bits(other));
  other = base;
  other.index += std::uint64_t{1} << 40;
  EXPECT_NE(random_bits(base), random_bits(other));
}

TEST(Random, UniformHasItsMomentsAndStaysInRange) {
  constexpr int draws = 100000;
  double sum = 0;
  double squares = 0;
  for (std::uint64_t i = 0; i < draws; ++i) {
    const double value = random_uniform({.seed = 7, .index = i});
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / draws, 0.5, 0.005);
  EXPECT_NEAR(squares / draws, 1.0 / 3, 0.005);
}

TEST(Random, NormalHasItsMoments) {
  constexpr int draws = 100000;
  double sum = 0;
  double squares = 0;
  for (std::uint64_t i = 0; i < draws; ++i) {
    const double value = random_normal({.seed = 7, .index = i});
    ASSERT_TRUE(std::isfinite(value));
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / draws, 0, 0.02);
  EXPECT_NEAR(squares / draws, 1, 0.02);
}

TEST(Random, BelowReachesEveryValueAndNoOther) {
  int seen[7] = {};
  for (std::uint64_t i = 0; i < 7000; ++i) {
    const std::uint64_t value = random_below({.seed = 3, .index = i}, 7);
    ASSERT_LT(value, 7U);
    ++seen[value];
  }
  for (const int count : seen) EXPECT_NEAR(count, 1000, 150);
}

}  // namespace
}  // namespace boolgrad
