#include "boolgrad/train/learners/image_shifts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

namespace boolgrad {
namespace {

using Way = std::pair<int, int>;

std::vector<Way> ways(std::int64_t count, std::int64_t most, std::uint64_t seed,
                      std::int64_t step) {
  std::vector<Way> result;
  for (const ImageShift shift : drawn_shifts(count, most, seed, step)) {
    result.emplace_back(shift.right, shift.down);
  }
  return result;
}

TEST(DrawnShifts, AreAllDrawnAndNoOthers) {
  const std::vector<Way> drawn = ways(2000, 2, 1, 0);
  const std::set<Way> kinds(drawn.begin(), drawn.end());
  EXPECT_EQ(kinds.size(), 25U);
  for (const auto& [right, down] : kinds) {
    EXPECT_LE(std::abs(right), 2);
    EXPECT_LE(std::abs(down), 2);
  }
}

TEST(DrawnShifts, FollowFromSeedStepAndPlace) {
  const std::vector<Way> shifts = ways(50, 1, 3, 7);
  EXPECT_EQ(ways(50, 1, 3, 7), shifts);
  const std::vector<Way> fewer = ways(20, 1, 3, 7);
  EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), shifts.begin()));
  EXPECT_NE(ways(50, 1, 3, 8), shifts);
  EXPECT_NE(ways(50, 1, 4, 7), shifts);
}

}  // namespace
}  // namespace boolgrad
