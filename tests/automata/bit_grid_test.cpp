#include "boolgrad/automata/bit_grid.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>

#include "boolgrad/automata/starts.h"
#include "boolgrad/data/automaton_task.h"
#include "tests/support/messages.h"
#include "tests/support/op_cases.h"
#include "tests/support/random_tensor.h"

namespace boolgrad::automata {
namespace {

TEST(BitGrid, RoundTripsThroughATensor) {
  EXPECT_TRUE(rc::check("a state survives packing", [](std::uint64_t seed) {
    Choices choose(seed);
    const Shape shape{choose.between(1, 4), choose.between(1, 3), choose.between(1, 9),
                      choose.between(1, 200)};
    const Tensor state = random_starts(shape, seed, 0);
    const BitGrid grid = BitGrid::from(state);
    RC_ASSERT(same_bits(grid.to_tensor(DType::uint8), state));
    for (std::int64_t i = 0; i < 20; ++i) {
      const std::int64_t c = choose.below(shape[0]);
      const std::int64_t b = choose.below(shape[1]);
      const std::int64_t y = choose.below(shape[2]);
      const std::int64_t x = choose.below(shape[3]);
      const std::int64_t at = ((c * shape[1] + b) * shape[2] + y) * shape[3] + x;
      RC_ASSERT(grid.at(c, b, y, x) == (state.at(at) == 1));
    }
  }));
}

TEST(BitGrid, HasZerosBeyondTheLastColumn) {
  for (const std::int64_t width : {1, 63, 64, 65, 130}) {
    const BitGrid grid = BitGrid::from(Tensor::ones({2, 2, 3, width}, DType::uint8));
    std::int64_t ones = 0;
    for (const std::int64_t c : {0, 1}) {
      for (const std::uint64_t word : grid.channel(c)) ones += std::popcount(word);
    }
    EXPECT_EQ(ones, 2 * 2 * 3 * width) << width;
  }
}

TEST(BitGrid, RoundsAtOneHalf) {
  const Tensor soft = Tensor::of<float>({0.0F, 0.5F, 0.51F, 1.0F}).viewed_as({1, 1, 2, 2});
  const Tensor hard = BitGrid::from(soft).to_tensor(DType::float64);
  EXPECT_EQ(hard.dtype(), DType::float64);
  EXPECT_EQ(hard.at(0), 0);
  EXPECT_EQ(hard.at(1), 0);
  EXPECT_EQ(hard.at(2), 1);
  EXPECT_EQ(hard.at(3), 1);
}

TEST(BitGrid, ClearsARectangleOfEveryGridAndNothingElse) {
  BitGrid grid = BitGrid::from(Tensor::ones({2, 3, 5, 70}, DType::uint8));
  grid.clear({.top = 1, .left = 60, .height = 3, .width = 9});
  for (std::int64_t c = 0; c < 2; ++c) {
    for (std::int64_t b = 0; b < 3; ++b) {
      for (std::int64_t y = 0; y < 5; ++y) {
        for (std::int64_t x = 0; x < 70; ++x) {
          const bool inside = y >= 1 && y < 4 && x >= 60 && x < 69;
          ASSERT_EQ(grid.at(c, b, y, x), !inside) << c << " " << b << " " << y << " " << x;
        }
      }
    }
  }
}

TEST(BitGrid, RejectsEmptyGridsAndOtherShapes) {
  expect_error([] { BitGrid(1, 1, 0, 4); },
               "[grid] expected at least one cell and channel, received 1 channels of 1 grids 0x4");
  expect_error(
      [] {
        BitGrid::from(Tensor::zeros({2, 3, 4}, DType::uint8));
      },
      "[grid] expected a state [channels, batch, height, width], received [2, 3, 4]");
}

}  // namespace
}  // namespace boolgrad::automata
