#include "boolgrad/data/pattern.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "boolgrad/picture/png.h"
#include "tests/support/messages.h"
#include "tests/support/pictures.h"
#include "tests/support/scratch.h"

namespace boolgrad::data {
namespace {

namespace fs = std::filesystem;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

using Bits = std::vector<std::uint8_t>;

Bits bits_of(const Pattern& pattern) {
  const auto values = pattern.bits.values<std::uint8_t>();
  return {values.begin(), values.end()};
}

TEST(Checkerboard, IsOffInTheCorner) {
  const Pattern single = checkerboard_pattern(2, 3, 1);
  EXPECT_EQ(single.bits.shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(bits_of(single), (Bits{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(bits_of(checkerboard_pattern(3, 5, 2)),
            (Bits{0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 1, 0, 0, 1}));
}

TEST(Checkerboard, RejectsInvalidSizes) {
  expect_error([] { checkerboard_pattern(0, 4, 1); },
               "[checkerboard_pattern] expected 1 to 4096 cells per side, received 0x4");
  expect_error([] { checkerboard_pattern(4, 5000, 1); },
               "[checkerboard_pattern] expected 1 to 4096 cells per side, received 4x5000");
  expect_error([] { checkerboard_pattern(4, 4, 0); },
               "[checkerboard_pattern] expected squares of at least 1 cell, received 0");
}

class Bitmap : public ::testing::Test {
 protected:
  Pattern read(const std::string& text) {
    write_bytes(path_, text);
    return read_bitmap(path_);
  }
  void refuses(const std::string& text, const std::string& message) {
    expect_error([&] { read(text); }, "[bitmap] " + path_.string() + message);
  }

  ScratchFolder folder_;
  fs::path path_ = folder_ / "bitmap.txt";
};

TEST_F(Bitmap, HasOneChannelInBlackAndWhite) {
  const Pattern pattern = read(".#.\n##.\n");
  EXPECT_EQ(pattern.bits.shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(bits_of(pattern), (Bits{0, 1, 0, 1, 1, 0}));
  EXPECT_EQ(read("..\n").bits.shape(), (Shape{1, 1, 2}));
}

TEST_F(Bitmap, HasThreeChannelsInColour) {
  const Pattern pattern = read("krgybmcw.\n");
  EXPECT_EQ(pattern.bits.shape(), (Shape{3, 1, 9}));
  EXPECT_EQ(bits_of(pattern), (Bits{0, 1, 0, 1, 0, 1, 0, 1, 0,  //
                                    0, 0, 1, 1, 0, 0, 1, 1, 0,  //
                                    0, 0, 0, 0, 1, 1, 1, 1, 0}));
}

TEST_F(Bitmap, ReadsWhatOtherProgramsWrite) {
  EXPECT_EQ(bits_of(read("#.\r\n.#\r\n\r\n")), (Bits{1, 0, 0, 1}));
  EXPECT_EQ(bits_of(read("#.\n.#")), (Bits{1, 0, 0, 1}));
}

TEST_F(Bitmap, ErrorsNameTheLine) {
  refuses("", ":0: expected at least one row, received none");
  refuses("\n\n", ":2: expected at least one row, received none");
  refuses("..\n...\n", ":2: expected a row of 2 cells, as in line 1, received 3");
  refuses("..\n\n..\n", ":3: unexpected row after an empty line");
  refuses("\n..\n", ":2: unexpected row after an empty line");
  refuses(".#\nx.\n", ":2: expected '.', '#' or one of the letters krgybmcw, received 'x'");
  refuses("..\n.\t\n", ":2: expected '.', '#' or one of the letters krgybmcw, received byte 9");
  refuses("\xC3\xA4\n", ":1: expected '.', '#' or one of the letters krgybmcw, received byte 195");
  refuses("rg\n.#\n", ":2: expected '#' or letters, received both");
  refuses("#r\n", ":1: expected '#' or letters, received both");
  refuses(std::string(5000, '.'), ":1: expected 1 to 4096 cells per side, received more");
}

TEST_F(Bitmap, ReportsAMissingFile) {
  expect_error([&] { read_bitmap(path_); },
               "[bitmap] cannot read " + path_.string() + ": No such file or directory");
  expect_error([&] { read_bitmap(folder_.path()); },
               "[bitmap] cannot read " + folder_.path().string() + ": Is a directory");
}

TEST_F(Bitmap, APictureIsReducedToEightColours) {
  const fs::path path = folder_ / "picture.png";
  picture::Image image{2, 1, {{200, 90, 140}, {0, 130, 20}}};
  picture::write_png(path, picture::enlarged(image, 6));
  const Pattern pattern = picture_pattern(path, 1, 2);
  EXPECT_EQ(pattern.bits.shape(), (Shape{3, 1, 2}));
  EXPECT_EQ(bits_of(pattern), (Bits{1, 0, 0, 1, 1, 0})) << "magenta and green";
  expect_error([&] { picture_pattern(path, 0, 2); },
               "[picture_pattern] expected 1 to 4096 cells per side, received 0x2");
}

TEST(PatternImage, ShowsChannelsAsColours) {
  const Tensor one = Tensor::of<std::uint8_t>({0, 1}, {1, 1, 2});
  EXPECT_EQ(pattern_image(one).pixels,
            (std::vector<picture::Colour>{picture::black, picture::white}));
  const Tensor two = Tensor::of<std::uint8_t>({0, 1, 1, 1}, {2, 1, 2});
  EXPECT_EQ(pattern_image(two).pixels,
            (std::vector<picture::Colour>{picture::black, picture::white}));
  const Tensor three = Tensor::of<std::uint8_t>({1, 0, 0, 1, 1, 0}, {3, 1, 2});
  const std::vector<picture::Colour> magenta_and_green = {{255, 0, 255}, {0, 255, 0}};
  EXPECT_EQ(pattern_image(three).pixels, magenta_and_green);
  const Tensor four = Tensor::of<std::uint8_t>({1, 0, 0, 1, 1, 0, 1, 1}, {4, 1, 2});
  EXPECT_EQ(pattern_image(four).pixels, magenta_and_green);
}

TEST(PatternImage, RejectsOtherTensors) {
  const std::string opening =
      "[pattern_image] expected uint8 of shape [channels, height, width], received ";
  expect_error([] { pattern_image(Tensor()); }, opening + "none");
  expect_error(
      [] {
        pattern_image(Tensor::zeros({1, 2, 2}, DType::float32));
      },
      opening + "float32 of shape [1, 2, 2]");
  expect_error(
      [] {
        pattern_image(Tensor::zeros({2, 2}, DType::uint8));
      },
      opening + "uint8 of shape [2, 2]");
  expect_error(
      [] {
        pattern_image(Tensor::zeros({0, 2, 2}, DType::uint8));
      },
      opening + "uint8 of shape [0, 2, 2]");
}

const fs::path experiments = fs::path(BOOLGRAD_SOURCE_DIR) / "experiments";

// Growth from cell to cell cannot cross a gap or leave the grid.
TEST(ShippedPatterns, TheLizardIsInOnePieceAndClearOfTheEdge) {
  const picture::Image image = pattern_image(read_bitmap(experiments / "lizard.txt").bits);
  ASSERT_EQ(image.width, 20);
  ASSERT_EQ(image.height, 20);
  using Place = std::pair<std::int64_t, std::int64_t>;
  std::set<Place> on;
  for (std::int64_t y = 0; y < 20; ++y) {
    for (std::int64_t x = 0; x < 20; ++x) {
      if (image.at(x, y) == picture::white) on.insert({x, y});
    }
  }
  EXPECT_EQ(on.size(), 110U);
  for (const auto& [x, y] : on) EXPECT_TRUE(x > 0 && x < 19 && y > 0 && y < 19);

  std::vector<Place> reached = {*on.begin()};
  on.erase(on.begin());
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const auto [x, y] = reached[i];
    for (const Place& next : {Place{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}}) {
      if (on.erase(next) > 0) reached.push_back(next);
    }
  }
  EXPECT_TRUE(on.empty());
}

TEST(ShippedPatterns, TheLetterHasAllColours) {
  const Pattern letter = read_bitmap(experiments / "letter-g.txt");
  EXPECT_EQ(letter.bits.shape(), (Shape{3, 16, 16}));
  std::set<int> colours;
  for (const picture::Colour colour : pattern_image(letter.bits).pixels) {
    colours.insert(picture::nearest_of_eight(colour));
  }
  EXPECT_EQ(colours.size(), 8U);
}

}  // namespace
}  // namespace boolgrad::data
