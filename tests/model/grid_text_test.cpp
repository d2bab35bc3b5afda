#include "boolgrad/model/grid_text.h"

#include <gtest/gtest.h>

namespace boolgrad {
namespace {

constexpr circuit::GridSize grid{20, 31};

TEST(GridText, HasHeightAndWidth) {
  const auto size = grid_size_in("12x999999999");
  ASSERT_TRUE(size.has_value());
  EXPECT_EQ(size->height, 12);
  EXPECT_EQ(size->width, 999'999'999);
  for (const char* text : {"", "x", "1", "1x", "x1", "1x2x3", "1x2 ", " 1x2", "-1x2",
                           "1x1000000000", "1X2", "1x2@step3"}) {
    EXPECT_FALSE(grid_size_in(text)) << text;
  }
}

TEST(GridText, HasDamageAtAPositionOrCentred) {
  const auto centred = damage_in("10x5@step3", grid);
  ASSERT_TRUE(centred.has_value());
  EXPECT_EQ(centred->rectangle.height, 10);
  EXPECT_EQ(centred->rectangle.width, 5);
  EXPECT_EQ(centred->rectangle.top, 5);
  EXPECT_EQ(centred->rectangle.left, 13);
  EXPECT_EQ(centred->first, 3);
  EXPECT_EQ(centred->last, 3);
  const auto placed = damage_in("10x5+7+0@step0", grid);
  ASSERT_TRUE(placed.has_value());
  EXPECT_EQ(placed->rectangle.top, 7);
  EXPECT_EQ(placed->rectangle.left, 0);
  for (const char* text : {"", "1x2", "1x2@3", "1x2+3@step4", "1x2++3@step4", "1x2+3+4", "1x2@step",
                           "1x2@step1000000000", "1x2@step3 ", "x2@step3"}) {
    EXPECT_FALSE(damage_in(text, grid)) << text;
  }
}

}  // namespace
}  // namespace boolgrad
