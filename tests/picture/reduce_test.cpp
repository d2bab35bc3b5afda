#include "boolgrad/picture/reduce.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <vector>

#include "tests/support/messages.h"
#include "tests/support/pictures.h"

namespace boolgrad::picture {
namespace {

/// The average on a grid fine enough that every pixel of both images is a block of it.
Colour brute_force(const Image& image, std::int64_t width, std::int64_t height, std::int64_t x,
                   std::int64_t y) {
  std::array<std::int64_t, 3> sums{};
  for (std::int64_t fine_y = y * image.height; fine_y < (y + 1) * image.height; ++fine_y) {
    for (std::int64_t fine_x = x * image.width; fine_x < (x + 1) * image.width; ++fine_x) {
      const Colour& colour = image.at(fine_x / width, fine_y / height);
      sums[0] += colour.red;
      sums[1] += colour.green;
      sums[2] += colour.blue;
    }
  }
  const std::int64_t count = image.width * image.height;
  const auto mean = [count](std::int64_t sum) {
    return static_cast<std::uint8_t>((2 * sum + count) / (2 * count));
  };
  return {mean(sums[0]), mean(sums[1]), mean(sums[2])};
}

TEST(Reduce, IsTheAverageOfTheAreaCovered) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const auto side = [] { return *rc::gen::inRange<std::int64_t>(1, 12); };
    const Image image = random_image(side(), side(), seed);
    const std::int64_t width = side();
    const std::int64_t height = side();
    const Image result = reduced(image, width, height);
    RC_ASSERT(result.width == width && result.height == height);
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        RC_ASSERT(result.at(x, y) == brute_force(image, width, height, x, y));
      }
    }
  }));
}

TEST(Reduce, UndoesEnlarging) {
  const Image image = random_image(5, 4, 7);
  EXPECT_EQ(reduced(enlarged(image, 3), 5, 4), image);
  EXPECT_EQ(reduced(image, 15, 12), enlarged(image, 3));
  EXPECT_EQ(reduced(image, 5, 4), image);
}

TEST(Reduce, RoundsAHalfUp) {
  EXPECT_EQ(reduced({2, 1, {black, {1, 3, 255}}}, 1, 1).at(0, 0), (Colour{1, 2, 128}));
}

TEST(Reduce, RejectsEmptyImages) {
  expect_error([] { reduced(filled_image(2, 2, white), 0, 3); },
               "[reduced] expected an image of at least 1 by 1 pixels, received 0 by 3");
  expect_error([] { reduced({}, 3, 3); },
               "[reduced] expected an image of at least 1 by 1 pixels, received 0 by 0");
}

TEST(SquareSide, IsTheLargestOfAllImages) {
  const Image coarse = random_image(4, 3, 1);
  const std::vector<Image> one = {enlarged(coarse, 6)};
  EXPECT_EQ(square_side(one), 6);
  std::vector<Image> two = {enlarged(coarse, 6), enlarged(enlarged(coarse, 3), 2)};
  EXPECT_EQ(square_side(two), 6);
  two[1].at(3, 3) = {1, 2, 3};
  EXPECT_EQ(square_side(two), 1);
  two[1] = enlarged(random_image(8, 6, 2), 3);
  EXPECT_EQ(square_side(two), 3);
  const std::vector<Image> plain = {filled_image(12, 12, white)};
  EXPECT_EQ(square_side(plain), 4) << "a grid of 3 by 3";
  expect_error([] { square_side({}); }, "[square_side] expected at least one image, received none");
}

}  // namespace
}  // namespace boolgrad::picture
