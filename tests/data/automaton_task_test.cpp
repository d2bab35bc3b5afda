#include "boolgrad/data/automaton_task.h"

#include <gtest/gtest.h>

#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace boolgrad {
namespace {

Tensor grid_of(const std::vector<std::string>& rows) {
  const auto height = static_cast<std::int64_t>(rows.size());
  const auto width = static_cast<std::int64_t>(rows[0].size());
  std::vector<std::uint8_t> cells;
  for (const std::string& row : rows) {
    for (const char cell : row) cells.push_back(cell == '#' ? 1 : 0);
  }
  return Tensor::of(cells, {1, height, width});
}

TEST(LifeStep, FollowsConway) {
  const Tensor blinker = grid_of({".....", "..#..", "..#..", "..#..", "....."});
  const Tensor turned = grid_of({".....", ".....", ".###.", ".....", "....."});
  EXPECT_TRUE(same_bits(life_step(blinker), turned));
  EXPECT_TRUE(same_bits(life_step(turned), blinker));
  const Tensor block = grid_of({"....", ".##.", ".##.", "...."});
  EXPECT_TRUE(same_bits(life_step(block), block));
  expect_error(
      [] {
        life_step(Tensor::zeros({3, 3}, DType::uint8));
      },
      "[life_step] expected uint8 [grids, height, width], received uint8 [3, 3]");
}

TEST(LifeStep, GoesAroundTheTorus) {
  const Tensor glider = grid_of({".#......", "..#.....", "###.....", "........", "........",
                                 "........", "........", "........"});
  Tensor state = glider;
  for (int step = 0; step < 32; ++step) state = life_step(state);
  EXPECT_TRUE(same_bits(state, glider));
  EXPECT_FALSE(same_bits(life_step(state), glider));
}

TEST(LifeTask, HoldsEveryNeighbourhoodOnce) {
  const AutomatonTask task = life_task();
  ASSERT_EQ(task.starts.shape(), (Shape{1, 512, 3, 3}));
  int alive = 0;
  for (std::int64_t grid = 0; grid < 512; ++grid) {
    int number = 0;
    int neighbours = 0;
    for (int cell = 0; cell < 9; ++cell) {
      const bool on = task.starts.at(grid * 9 + cell) != 0;
      number |= (on ? 1 : 0) << cell;
      neighbours += cell != 4 && on ? 1 : 0;
    }
    EXPECT_EQ(number, grid);
    const bool lives = neighbours == 3 || (neighbours == 2 && (number >> 4 & 1) != 0);
    EXPECT_EQ(task.target.at(grid * 9 + 4), lives ? 1 : 0) << grid;
    alive += lives ? 1 : 0;
  }
  EXPECT_EQ(alive, 56 * 2 + 28) << "three of eight neighbours, or two and the cell itself";
}

TEST(Starts, AreBitsOfTheirOwn) {
  const Shape shape{8, 4, 16, 16};
  const Tensor starts = random_starts(shape, 1, 2, 3);
  double ones = 0;
  for (const std::uint8_t bit : starts.values<std::uint8_t>()) {
    ASSERT_LE(bit, 1);
    ones += bit;
  }
  EXPECT_NEAR(ones / static_cast<double>(starts.size()), 0.5, 0.02);
  EXPECT_TRUE(same_bits(starts, random_starts(shape, 1, 2, 3)));
  EXPECT_FALSE(same_bits(starts, random_starts(shape, 1, 2, 4)));
  EXPECT_FALSE(same_bits(starts, random_starts(shape, 2, 2, 3)));
}

TEST(Starts, HaveOneCellInTheMiddle) {
  const Tensor starts = seed_starts({2, 1, 5, 4});
  double ones = 0;
  for (const std::uint8_t bit : starts.values<std::uint8_t>()) ones += bit;
  EXPECT_EQ(ones, 2);
  EXPECT_EQ(starts.at(2 * 4 + 2), 1);
  EXPECT_EQ(starts.at(20 + 2 * 4 + 2), 1);
}

}  // namespace
}  // namespace boolgrad
