#include "boolgrad/picture/gif.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "tests/support/gif_reader.h"
#include "tests/support/messages.h"
#include "tests/support/pictures.h"
#include "tests/support/scratch.h"

namespace boolgrad::picture {
namespace {

namespace fs = std::filesystem;
using testing_support::read_bytes;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

using Frame = std::vector<std::uint8_t>;

Image image_of(const Frame& frame, std::int64_t width, std::span<const Colour> palette) {
  Image image{width, static_cast<std::int64_t>(frame.size()) / width, {}};
  for (const std::uint8_t index : frame) image.pixels.push_back(palette[index]);
  return image;
}

class Gif : public ::testing::Test {
 protected:
  ScratchFolder folder_;
  fs::path path_ = folder_ / "grow.gif";
};

TEST_F(Gif, IsReadBackFrameByFrame) {
  EXPECT_TRUE(rc::check([this](std::uint64_t seed) {
    const auto width = *rc::gen::inRange<std::int64_t>(1, 20);
    const auto height = *rc::gen::inRange<std::int64_t>(1, 20);
    const auto colours = *rc::gen::element<std::size_t>(1, 2, 3, 8, 17, 256);
    const std::vector<Colour> palette =
        random_image(static_cast<std::int64_t>(colours), 1, seed).pixels;
    const auto frames = *rc::gen::container<std::vector<Frame>>(
        *rc::gen::inRange<std::size_t>(1, 5),
        rc::gen::container<Frame>(
            static_cast<std::size_t>(width * height),
            rc::gen::map(rc::gen::inRange<std::size_t>(0, colours),
                         [](std::size_t index) { return static_cast<std::uint8_t>(index); })));
    GifWriter gif(path_, width, height, palette);
    for (std::size_t i = 0; i < frames.size(); ++i) gif.add(frames[i], static_cast<int>(i) + 2);
    gif.finish();

    const Shown seen = shown(path_);
    RC_ASSERT(seen.frames.size() == frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      RC_ASSERT(seen.frames[i] == image_of(frames[i], width, palette));
      RC_ASSERT(seen.hundredths[i] == static_cast<int>(i) + 2);
    }
    RC_ASSERT(read_gif(path_) == seen.frames);
  }));
}

TEST_F(Gif, IsReadWithTransparencyInterlacingAndDisposal) {
  // Two frames of 1 by 8 pixels: interlaced, then one pixel that is cleared after it was shown,
  // then one whose second pixel is transparent.
  std::string file = "GIF89a";
  const auto append = [&](std::initializer_list<int> bytes) {
    for (const int byte : bytes) file += static_cast<char>(byte);
  };
  append({1, 0, 8, 0, 0x91, 0, 0});                    // screen, four colours
  append({0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255});  // black, red, green, blue
  const auto frame = [&](int disposal, int transparent, int top, int height, int flags,
                         const std::vector<int>& pixels) {
    append({0x21, 0xF9, 4, disposal << 2 | (transparent >= 0 ? 1 : 0), 1, 0,
            transparent >= 0 ? transparent : 0, 0});
    append({0x2C, 0, 0, top, 0, 1, 0, height, 0, flags, 2});
    // Codes of three bits: a clear code before every pixel keeps them at that size.
    unsigned bits = 0;
    int count = 0;
    std::string block;
    const auto put = [&](unsigned code) {
      bits |= code << count;
      for (count += 3; count >= 8; count -= 8, bits >>= 8) block += static_cast<char>(bits & 255);
    };
    for (const int pixel : pixels) {
      put(4);
      put(static_cast<unsigned>(pixel));
    }
    put(5);
    if (count > 0) block += static_cast<char>(bits);
    append({static_cast<int>(block.size())});
    file += block;
    append({0});
  };
  // Rows 0, 4, 2, 6, 1, 3, 5, 7.
  frame(0, -1, 0, 8, 0x40, {0, 1, 2, 3, 1, 1, 2, 2});
  frame(2, -1, 3, 1, 0, {3});
  frame(3, 0, 0, 2, 0, {3, 0});
  frame(0, 0, 7, 1, 0, {0});
  append({0x3B});
  testing_support::write_bytes(path_, file);
  const std::vector<Image> frames = read_gif(path_);
  const auto colours = [&](std::size_t index) {
    std::string text;
    for (const Colour c : frames.at(index).pixels) {
      text += c.red > 0 ? 'r' : c.green > 0 ? 'g' : c.blue > 0 ? 'b' : '.';
    }
    return text;
  };
  ASSERT_EQ(frames.size(), 4U);
  EXPECT_EQ(colours(0), ".rgrrgbg");
  EXPECT_EQ(colours(1), ".rgbrgbg");
  EXPECT_EQ(colours(2), "brg.rgbg") << "one pixel is cleared, one stays";
  EXPECT_EQ(colours(3), ".rg.rgbg") << "as before the third frame";
}

TEST_F(Gif, IsCheckedWhenItIsRead) {
  const std::string name = "[gif] " + path_.string() + ": ";
  expect_error([&] { read_gif(path_); },
               "[gif] cannot read " + path_.string() + ": No such file or directory");
  testing_support::write_bytes(path_, "no picture at all");
  expect_error([&] { read_gif(path_); },
               name + "expected a GIF image, received a file of a different type");
  GifWriter gif(path_, 40, 30, eight_colours);
  gif.add(Frame(1200, 3), 1);
  gif.finish();
  const std::string whole = testing_support::read_bytes(path_);
  ASSERT_EQ(read_gif(path_).size(), 1U);
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    testing_support::write_bytes(path_, whole.substr(0, bytes));
    EXPECT_THROW(read_gif(path_), Error) << bytes;
  }
  // A frame that is wider than the screen.
  std::string wide = whole;
  wide[6] = 39;
  testing_support::write_bytes(path_, wide);
  expect_error([&] { read_gif(path_); },
               name + "expected frames within 39 by 30 pixels, received one of 40 by 30 at 0, 0");
}

// A few bytes must not take hundreds of megabytes.
TEST_F(Gif, TakesMemoryInProportionToTheFile) {
  const std::string name = "[gif] " + path_.string() + ": ";
  std::string file = "GIF89a";
  file.append("\x00\x20\x00\x20\x80\x00\x00", 7);               // a screen of 8192 by 8192 pixels
  file.append("\x00\x00\x00\xFF\xFF\xFF", 6);                   // two colours
  file.append("\x2C\x00\x00\x00\x00\x01\x00\x01\x00\x00", 10);  // a frame of one pixel
  file.append("\x02\x02\x44\x01\x00\x3B", 6);
  write_bytes(path_, file);
  expect_error([&] { read_gif(path_); },
               name +
                   "expected at most 2293760 pixels in all frames of a file of 35 bytes, received "
                   "more");
  file[7] = 1;  // 256 by 8192
  write_bytes(path_, file);
  EXPECT_EQ(read_gif(path_).size(), 1U);
  // The same frame again.
  const std::string frame = file.substr(19, 15);
  file.insert(19, frame);
  write_bytes(path_, file);
  EXPECT_THROW(read_gif(path_), Error);
}

TEST_F(Gif, StoresOnlyWhatChanged) {
  Frame frame(100, 0);
  GifWriter gif(path_, 10, 10, eight_colours);
  gif.add(frame, 5);
  gif.add(frame, 5);  // no change is stored as one pixel
  frame[34] = 7;
  frame[46] = 3;
  gif.add(frame, 5);
  gif.finish();
  const Shown seen = shown(path_);
  EXPECT_EQ(seen.stored_pixels, 100 + 1 + 3 * 2);
  EXPECT_EQ(seen.frames.back(), image_of(frame, 10, eight_colours));
}

TEST_F(Gif, RepeatsEndlessly) {
  GifWriter gif(path_, 2, 1, eight_colours);
  gif.add(Frame{0, 1}, 10);
  gif.finish();
  const std::string bytes = read_bytes(path_);
  EXPECT_TRUE(bytes.starts_with("GIF89a"));
  EXPECT_TRUE(bytes.ends_with(';'));
  const std::string loop("\x21\xFF\x0BNETSCAPE2.0\x03\x01\x00\x00\x00", 19);
  EXPECT_NE(bytes.find(loop), std::string::npos);
}

TEST_F(Gif, LeavesNothingWithoutFinish) {
  { GifWriter(path_, 2, 1, eight_colours).add(Frame{0, 1}, 10); }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  write_bytes(path_, "before");
  { GifWriter(path_, 2, 1, eight_colours).add(Frame{0, 1}, 10); }
  EXPECT_EQ(read_bytes(path_), "before");
}

TEST_F(Gif, RejectsInvalidFrames) {
  const std::string name = "[gif] " + path_.string() + ": ";
  GifWriter gif(path_, 2, 1, std::span(eight_colours).first(3));
  expect_error([&] { gif.finish(); }, name + "expected at least one frame, received none");
  expect_error([&] { gif.add(Frame{0}, 1); }, name + "expected 2 pixels in a frame, received 1");
  expect_error(
      [&] {
        gif.add(Frame{0, 3}, 1);
      },
      name + "expected palette indices below 3, received 3");
  expect_error(
      [&] {
        gif.add(Frame{0, 1}, -1);
      },
      name +
          "expected a frame duration of 0 to 65535 hundredths of a second, "
          "received -1");
  gif.add(Frame{0, 2}, 1);
  gif.finish();
  expect_error([&] { gif.add(Frame{0, 1}, 1); }, name + "cannot add a frame after finish");
  expect_error([&] { gif.finish(); }, name + "finish was called twice");
}

TEST_F(Gif, RejectsInvalidArguments) {
  const auto opening = [](const fs::path& path, std::int64_t width, std::size_t colours) {
    GifWriter(path, width, 1, std::vector<Colour>(colours));
  };
  expect_error([&] { opening(path_, 0, 2); },
               "[gif] expected an image of at least 1 by 1 pixels, received 0 by 1");
  expect_error([&] { opening(path_, 1, 0); },
               "[gif] expected a palette of 1 to 256 colours, received 0");
  expect_error([&] { opening(path_, 1, 257); },
               "[gif] expected a palette of 1 to 256 colours, received 257");
  expect_error([&] { opening(folder_ / "none" / "a.gif", 1, 2); },
               "[gif] cannot create " + (folder_ / "none" / "a.gif").string() +
                   ": No such file or directory");
}

}  // namespace
}  // namespace boolgrad::picture
