#include "boolgrad/picture/png.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <png.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tests/support/messages.h"
#include "tests/support/pictures.h"
#include "tests/support/scratch.h"

namespace boolgrad::picture {
namespace {

namespace fs = std::filesystem;
using testing_support::read_bytes;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

using Rows = std::vector<std::vector<png_byte>>;

/// A PNG of a kind that `write_png` does not write. `finish_header` adds a palette and the like.
template <class FinishHeader>
void write_raw(const fs::path& path, int width, int bit_depth, int colour_type, Rows rows,
               FinishHeader finish_header) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_init_io(png, file);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(rows.size()),
               bit_depth, colour_type, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  finish_header(png, info);
  png_write_info(png, info);
  for (auto& row : rows) png_write_row(png, row.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  std::fclose(file);
}

void write_raw(const fs::path& path, int width, int bit_depth, int colour_type, Rows rows) {
  write_raw(path, width, bit_depth, colour_type, std::move(rows), [](png_structp, png_infop) {});
}

class Png : public ::testing::Test {
 protected:
  void refuses(const std::string& message) {
    expect_error([&] { read_png(path_); }, "[png] " + path_.string() + ": " + message);
  }
  std::vector<Colour> pixels() { return read_png(path_).pixels; }

  ScratchFolder folder_;
  fs::path path_ = folder_ / "picture.png";
};

TEST_F(Png, ReadsWhatItWrote) {
  for (const auto& [width, height] : std::vector<std::pair<int, int>>{{1, 1}, {7, 3}, {300, 2}}) {
    const Image image = random_image(width, height, 3);
    write_png(path_, image);
    EXPECT_EQ(read_png(path_), image);
  }
}

TEST_F(Png, ReadsGreyOfEveryDepth) {
  const std::vector<Colour> black_and_white = {black, white, white, black};
  write_raw(path_, 4, 1, PNG_COLOR_TYPE_GRAY, {{0x60}});
  EXPECT_EQ(pixels(), black_and_white);
  write_raw(path_, 4, 2, PNG_COLOR_TYPE_GRAY, {{0x3C}});
  EXPECT_EQ(pixels(), black_and_white);
  write_raw(path_, 4, 8, PNG_COLOR_TYPE_GRAY, {{0, 255, 255, 0}});
  EXPECT_EQ(pixels(), black_and_white);
}

TEST_F(Png, ReadsPalettes) {
  write_raw(path_, 3, 8, PNG_COLOR_TYPE_PALETTE, {{2, 0, 1}}, [](png_structp png, png_infop info) {
    const std::vector<png_color> palette = {{1, 2, 3}, {40, 50, 60}, {255, 0, 128}};
    png_set_PLTE(png, info, palette.data(), 3);
  });
  EXPECT_EQ(pixels(), (std::vector<Colour>{{255, 0, 128}, {1, 2, 3}, {40, 50, 60}}));
}

// Samples are big endian. Values are used directly unless the file declares linear light.
TEST_F(Png, ReadsSixteenBits) {
  write_raw(path_, 2, 16, PNG_COLOR_TYPE_RGB,
            {{0x80, 0x80, 0xFF, 0xFF, 0, 0, 0x10, 0x10, 0x20, 0x20, 0x30, 0x30}});
  EXPECT_EQ(pixels(), (std::vector<Colour>{{0x80, 0xFF, 0}, {0x10, 0x20, 0x30}}));
}

TEST_F(Png, BlendsTransparentPixelsWithWhite) {
  write_raw(path_, 3, 8, PNG_COLOR_TYPE_RGBA, {{200, 10, 20, 255, 9, 9, 9, 0, 0, 0, 0, 128}});
  const std::vector<Colour> seen = pixels();
  EXPECT_EQ(seen[0], (Colour{200, 10, 20}));
  EXPECT_EQ(seen[1], white);
  EXPECT_GT(seen[2].red, 100);
  EXPECT_LT(seen[2].red, 220);
  const OpaqueImage unblended = read_png_with_opacity(path_);
  EXPECT_EQ(unblended.opacity, (std::vector<std::uint8_t>{255, 0, 128}));
  EXPECT_EQ(unblended.image.pixels, (std::vector<Colour>{{200, 10, 20}, black, black}));

  write_raw(path_, 2, 8, PNG_COLOR_TYPE_PALETTE, {{0, 1}}, [](png_structp png, png_infop info) {
    const std::vector<png_color> palette = {{1, 2, 3}, {40, 50, 60}};
    const std::vector<png_byte> opacity = {0, 255};
    png_set_PLTE(png, info, palette.data(), 2);
    png_set_tRNS(png, info, opacity.data(), 2, nullptr);
  });
  EXPECT_EQ(pixels(), (std::vector<Colour>{white, {40, 50, 60}}));
}

TEST_F(Png, ReportsUnreadableFiles) {
  expect_error([&] { read_png(path_); },
               "[png] cannot read " + path_.string() + ": No such file or directory");
  path_ = folder_.path();
  expect_error([&] { read_png(path_); },
               "[png] cannot read " + path_.string() + ": Is a directory");
}

TEST_F(Png, RecognisesOtherFilesByTheirFirstBytes) {
  const std::string message = "expected a PNG image, received a file of a different type";
  for (const std::string bytes :
       {"", "\x89PNG\r\n", "GIF89a, and then some", "\x89PNG\r\n\x1a\r"}) {
    write_bytes(path_, bytes);
    refuses(message);
  }
}

TEST_F(Png, ChecksTheImageSizeFirst) {
  write_png(path_, random_image(2, 2, 4));
  const std::string good = read_bytes(path_);
  const auto with_sides = [&](const std::string& sides) {
    write_bytes(path_, good.substr(0, 16) + sides + good.substr(24));
  };
  with_sides(std::string("\x7F\xFF\xFF\xFF\0\0\0\1", 8));
  refuses("expected at most 16384 by 16384 pixels, received 2147483647 by 1");
  with_sides(std::string("\0\0\0\1\0\0\x40\1", 8));
  refuses("expected at most 16384 by 16384 pixels, received 1 by 16385");
  with_sides(std::string("\0\0\0\0\0\0\0\5", 8));
  refuses("expected an image of at least 1 by 1 pixels, received 0 by 5");
}

// A file that lacks only the chunks after the pixels may still be read. Any other is damaged.
TEST_F(Png, TruncatedAnywhereItIsRefusedOrRead) {
  const Image image = random_image(9, 5, 5);
  write_png(path_, image);
  const std::string whole = read_bytes(path_);
  std::size_t refused = 0;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write_bytes(path_, whole.substr(0, length));
    try {
      EXPECT_EQ(read_png(path_), image) << length;
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("[png] " + path_.string() + ": expected "))
          << error.what();
      ++refused;
    }
  }
  EXPECT_GE(refused, whole.size() - 20);
  write_bytes(path_, whole.substr(0, whole.size() / 2));
  refuses("expected a valid PNG image, received a damaged one (Read Error)");
}

TEST_F(Png, IsRefusedIfItsSizeCannotHoldItsPixels) {
  write_png(path_, filled_image(2, 2, white));
  std::string bytes = read_bytes(path_);
  bytes[18] = 0x40;  // 16386 by 16386 pixels would be too many, 16384 by 16384 are allowed
  bytes[19] = 0;
  bytes[22] = 0x40;
  bytes[23] = 0;
  write_bytes(path_, bytes);
  refuses(
      fmt::format("expected 780335 bytes or more for 16384x16384 pixels, received {}, the file "
                  "is truncated",
                  bytes.size()));
}

TEST_F(Png, WithAnyByteChangedItIsRefusedOrRead) {
  write_png(path_, random_image(9, 5, 6));
  const std::string whole = read_bytes(path_);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    write_bytes(path_, damaged);
    try {
      read_png(path_);
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
}

TEST_F(Png, ReportsImagesThatCannotBeWritten) {
  const Image image = filled_image(2, 2, white);
  expect_error([&] { write_png(path_, {}); },
               "[png] expected an image of at least 1 by 1 pixels, received 0 by 0");
  expect_error(
      [&] {
        write_png(path_, {2, 1, {white}});
      },
      "[png] expected 2 pixels in an image of 2 by 1, received 1");
  const fs::path nowhere = folder_ / "none" / "picture.png";
  expect_error([&] { write_png(nowhere, image); },
               "[png] cannot create " + nowhere.string() + ": No such file or directory");
  expect_error([&] { write_png(folder_.path(), image); },
               "[png] cannot replace " + folder_.path().string() + ": not a regular file");
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

}  // namespace
}  // namespace boolgrad::picture
