#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "boolgrad/data/pattern.h"
#include "boolgrad/picture/png.h"
#include "tests/support/messages.h"
#include "tests/support/scratch.h"
#include "tests/support/transparent_png.h"

namespace boolgrad::data {
namespace {

using testing_support::ScratchFolder;
using testing_support::write_rgba;

class FittedPattern : public testing::Test {
 protected:
  /// Writes rows of letters: the eight colours as in text bitmaps, `-` for a transparent pixel.
  /// Each letter is a square of `side` pixels.
  void draw(const std::vector<std::string>& rows, std::size_t side = 1) {
    const std::string letters = "krgybmcw";
    std::vector<std::uint8_t> bytes;
    for (std::size_t y = 0; y < rows.size() * side; ++y) {
      for (std::size_t x = 0; x < rows[0].size() * side; ++x) {
        const std::size_t colour = letters.find(rows[y / side][x / side]);
        const bool opaque = colour != std::string::npos;
        for (unsigned bit = 0; bit < 3; ++bit) {
          bytes.push_back(opaque && (colour >> bit & 1) != 0 ? 255 : 0);
        }
        bytes.push_back(opaque ? 255 : 0);
      }
    }
    write_rgba(path_, static_cast<int>(rows[0].size() * side), bytes);
  }

  /// The pattern in the letters of a text bitmap.
  std::vector<std::string> fitted(std::int64_t max_side = 32) {
    const Tensor bits = fitted_pattern(path_, max_side).bits;
    const Shape& shape = bits.shape();
    std::vector<std::string> rows;
    for (std::int64_t y = 0; y < shape[1]; ++y) {
      std::string row;
      for (std::int64_t x = 0; x < shape[2]; ++x) {
        int cell = 0;
        for (std::int64_t c = 0; c < shape[0]; ++c) {
          cell |= static_cast<int>(bits.at((c * shape[1] + y) * shape[2] + x)) << c;
        }
        row += shape[0] == 1 ? ".#"[cell] : ".rgybmcw"[cell];
      }
      rows.push_back(row);
    }
    return rows;
  }

  using Rows = std::vector<std::string>;
  ScratchFolder scratch_;
  std::filesystem::path path_ = scratch_ / "heart.png";
};

TEST_F(FittedPattern, ADrawingHasOneChannel) {
  const Rows drawing = {".#.#.", "#####", ".###.", "..#.."};
  draw({"wkwkw", "kkkkk", "wkkkw", "wwkww"});
  EXPECT_EQ(fitted(), drawing) << "black on white";
  draw({"krkrk", "rrrrr", "krrrk", "kkrkk"});
  EXPECT_EQ(fitted(), drawing) << "red on black";
  draw({"-k-k-", "kkkkk", "-kkk-", "--k--"});
  EXPECT_EQ(fitted(), drawing) << "black on nothing";
}

TEST_F(FittedPattern, ColoursHaveThreeAndTheirBackgroundIsOff) {
  const Rows coloured = {".r.g.", "rrrgg", ".rrg.", "..r.."};
  draw({"-r-g-", "rrrgg", "-rrg-", "--r--"});
  EXPECT_EQ(fitted(), coloured);
  draw({"wrwgw", "rrrgg", "wrrgw", "wwrww"});
  EXPECT_EQ(fitted(), coloured);
  draw({"wrwgw", "rkrgg", "wrrgw", "wwrww"});
  EXPECT_EQ(fitted(), (Rows{"wrwgw", "r.rgg", "wrrgw", "wwrww"})) << "black is a colour here";
}

TEST_F(FittedPattern, SquaresAreCells) {
  const Rows rows = {"wkwkw", "kkkkk", "wkkkw", "wwkww"};
  draw(rows, 7);
  EXPECT_EQ(fitted(), (Rows{".#.#.", "#####", ".###.", "..#.."}));
}

TEST_F(FittedPattern, LargePicturesAreReduced) {
  std::vector<std::string> rows(60, std::string(90, 'w'));
  for (std::size_t y = 20; y < 41; ++y) {
    for (std::size_t x = 31; x < 60; ++x) rows[y][x] = 'k';
  }
  draw(rows);
  const Rows fit = fitted();
  ASSERT_EQ(fit.size(), 11U);
  EXPECT_EQ(fit[0], "................");
  EXPECT_EQ(fit[5], "......#####.....");
  EXPECT_EQ(fitted(8).size(), 5U);
  EXPECT_EQ(fitted(90).size(), 60U) << "as it is";
}

TEST_F(FittedPattern, NeedsAPicture) {
  draw({"www", "www", "www"});
  expect_error([&] { fitted(); },
               "[target] " + path_.string() + ": expected a picture on a background");
  draw({"---", "---", "---"});
  expect_error([&] { fitted(); },
               "[target] " + path_.string() + ": expected a picture on a background");
}

}  // namespace
}  // namespace boolgrad::data
