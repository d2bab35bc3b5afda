// A picture in memory, and the eight colours that three bits can name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace boolgrad {

struct Colour {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  bool operator==(const Colour&) const = default;
};

inline constexpr Colour black{0, 0, 0};
inline constexpr Colour white{255, 255, 255};

/// Pixels row by row from the top, each row from the left.
struct Image {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<Colour> pixels;

  /// Column x of row y, which must lie within the picture.
  Colour& at(std::int64_t x, std::int64_t y) { return pixels[index(x, y)]; }
  const Colour& at(std::int64_t x, std::int64_t y) const { return pixels[index(x, y)]; }

  bool operator==(const Image&) const = default;

 private:
  std::size_t index(std::int64_t x, std::int64_t y) const {
    return static_cast<std::size_t>(y * width + x);
  }
};

/// The most pixels to a side that pictures may have. It keeps a file of a few bytes from asking
/// for all of the memory.
inline constexpr std::int64_t longest_side = 16384;

/// What is wrong with such sides, in the words of a message: one below 1, or above `longest_side`.
/// Empty where nothing is.
std::string fault_of_sides(std::int64_t width, std::int64_t height);

/// Refuses such sides in the name of `where`.
void check_sides(std::string_view where, std::int64_t width, std::int64_t height);

/// Refuses a picture of such sides or with more or fewer pixels than its sides say.
void check_image(std::string_view where, const Image& image);

/// A picture of one colour.
Image filled_image(std::int64_t width, std::int64_t height, Colour colour);

/// Every pixel as a square of `factor` by `factor` pixels.
Image enlarged(const Image& image, std::int64_t factor);

/// Bit 0 of the index is red, bit 1 green, bit 2 blue: black, red, green, yellow, blue, magenta,
/// cyan, white.
inline constexpr std::array<Colour, 8> eight_colours = {{{0, 0, 0},
                                                         {255, 0, 0},
                                                         {0, 255, 0},
                                                         {255, 255, 0},
                                                         {0, 0, 255},
                                                         {255, 0, 255},
                                                         {0, 255, 255},
                                                         {255, 255, 255}}};

/// The index of the one of the eight colours that lies nearest in RGB.
int nearest_of_eight(Colour colour);

}  // namespace boolgrad
