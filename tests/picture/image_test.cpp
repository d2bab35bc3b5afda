#include "boolgrad/picture/image.h"

#include <gtest/gtest.h>

#include "tests/support/messages.h"
#include "tests/support/pictures.h"

namespace boolgrad::picture {
namespace {

TEST(Image, StoresPixelsRowByRow) {
  Image image = filled_image(3, 2, white);
  image.at(2, 0) = black;
  EXPECT_EQ(image.pixels[2], black);
  image.at(0, 1) = black;
  EXPECT_EQ(image.pixels[3], black);
}

TEST(Image, BitsOfAnIndexAreRedGreenAndBlue) {
  for (int i = 0; i < 8; ++i) {
    const Colour colour = eight_colours[static_cast<std::size_t>(i)];
    EXPECT_EQ(colour.red, (i & 1) != 0 ? 255 : 0);
    EXPECT_EQ(colour.green, (i & 2) != 0 ? 255 : 0);
    EXPECT_EQ(colour.blue, (i & 4) != 0 ? 255 : 0);
    EXPECT_EQ(nearest_of_eight(colour), i);
  }
}

TEST(Image, FindsTheNearestOfEight) {
  const auto square_distance = [](Colour a, Colour b) {
    const int red = a.red - b.red;
    const int green = a.green - b.green;
    const int blue = a.blue - b.blue;
    return red * red + green * green + blue * blue;
  };
  const Image image = random_image(40, 50, 1);
  for (const Colour colour : image.pixels) {
    const auto nearest = static_cast<std::size_t>(nearest_of_eight(colour));
    for (const Colour other : eight_colours) {
      EXPECT_LE(square_distance(colour, eight_colours[nearest]), square_distance(colour, other));
    }
  }
}

TEST(Image, Enlarges) {
  const Image image = random_image(3, 2, 2);
  const Image large = enlarged(image, 4);
  ASSERT_EQ(large.width, 12);
  ASSERT_EQ(large.height, 8);
  for (std::int64_t y = 0; y < 8; ++y) {
    for (std::int64_t x = 0; x < 12; ++x) EXPECT_EQ(large.at(x, y), image.at(x / 4, y / 4));
  }
  EXPECT_EQ(enlarged(image, 1), image);
}

TEST(Image, RejectsInvalidSizes) {
  const Image image = filled_image(2, 2, white);
  expect_error([&] { enlarged(image, 0); },
               "[enlarged] expected a factor from 1 to 16384, received 0");
  expect_error([&] { enlarged(image, 10'000); },
               "[enlarged] expected at most 16384 by 16384 pixels, received 20000 by 20000");
  expect_error([] { enlarged({}, 2); },
               "[enlarged] expected an image of at least 1 by 1 pixels, received 0 by 0");
  expect_error([] { filled_image(5, -1, white); },
               "[filled_image] expected an image of at least 1 by 1 pixels, received 5 by -1");
  expect_error(
      [] {
        enlarged({2, 2, {white, black}}, 2);
      },
      "[enlarged] expected 4 pixels in an image of 2 by 2, received 2");
}

}  // namespace
}  // namespace boolgrad::picture
