#include "boolgrad/data/automaton_task.h"
#include "boolgrad/automata/starts.h"

#include <gtest/gtest.h>

#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace boolgrad::data {
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
      "[rule_step] expected uint8 [grids, height, width], received uint8 [3, 3]");
}

TEST(LifeStep, GoesAroundTheTorus) {
  const Tensor glider = grid_of({".#......", "..#.....", "###.....", "........", "........",
                                 "........", "........", "........"});
  Tensor state = glider;
  for (int step = 0; step < 32; ++step) state = life_step(state);
  EXPECT_TRUE(same_bits(state, glider));
  EXPECT_FALSE(same_bits(life_step(state), glider));
}

TEST(LifeTask, CoversEveryNeighbourhood) {
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

TEST(Starts, AreIndependentRandomBits) {
  const Shape shape{8, 4, 16, 16};
  const Tensor starts = automata::random_starts(shape, 1, 2, 3);
  double ones = 0;
  for (const std::uint8_t bit : starts.values<std::uint8_t>()) {
    ASSERT_LE(bit, 1);
    ones += bit;
  }
  EXPECT_NEAR(ones / static_cast<double>(starts.size()), 0.5, 0.02);
  EXPECT_TRUE(same_bits(starts, automata::random_starts(shape, 1, 2, 3)));
  EXPECT_FALSE(same_bits(starts, automata::random_starts(shape, 1, 2, 4)));
  EXPECT_FALSE(same_bits(starts, automata::random_starts(shape, 2, 2, 3)));
}

TEST(Starts, HaveOneCellInTheMiddle) {
  const Tensor starts = automata::seed_starts({2, 1, 5, 4});
  double ones = 0;
  for (const std::uint8_t bit : starts.values<std::uint8_t>()) ones += bit;
  EXPECT_EQ(ones, 2);
  EXPECT_EQ(starts.at(2 * 4 + 2), 1);
  EXPECT_EQ(starts.at(20 + 2 * 4 + 2), 1);
}

TEST(GrownPart, CoversItsShareOfTheDistance) {
  // Two channels of 5 by 8 cells, the middle at row 2, column 4; the farthest one is 4 away.
  Tensor target = Tensor::zeros({2, 1, 5, 8}, DType::uint8);
  const std::span<std::uint8_t> bits = target.mutable_values<std::uint8_t>();
  const auto place = [](std::size_t channel, std::size_t y, std::size_t x) {
    return channel * 40 + y * 8 + x;
  };
  const std::size_t middle = place(1, 2, 4);
  const std::size_t near = place(0, 1, 5);     // 1 away
  const std::size_t farther = place(1, 0, 2);  // 2 away, in both directions
  const std::size_t edge = place(0, 2, 0);     // 4 away
  for (const std::size_t i : {middle, near, farther, edge}) bits[i] = 1;
  const auto ones = [&](double share) {
    const Tensor part = grown_part(target, share);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < bits.size(); ++i) {
      if (part.values<std::uint8_t>()[i] != 0) found.push_back(i);
    }
    return found;
  };
  EXPECT_EQ(ones(1), (std::vector{near, edge, farther, middle}));
  EXPECT_EQ(ones(0.7), (std::vector{near, farther, middle}));  // 2.8 away, rounded up
  EXPECT_EQ(ones(0.2), (std::vector{near, middle}));
  EXPECT_EQ(ones(0), std::vector{middle});
  EXPECT_TRUE(same_bits(grown_part(Tensor::zeros({1, 1, 3, 3}, DType::uint8), 0.5),
                        Tensor::zeros({1, 1, 3, 3}, DType::uint8)));
}

}  // namespace
}  // namespace boolgrad::data
