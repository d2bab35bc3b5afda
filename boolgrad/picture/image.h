// Images in memory, and the eight colours of three bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace boolgrad::picture {

/// A 24-bit RGB colour.
struct Colour {
  std::uint8_t red = 0;    ///< red component
  std::uint8_t green = 0;  ///< green component
  std::uint8_t blue = 0;   ///< blue component

  /// Whether two colours are equal.
  bool operator==(const Colour&) const = default;
};

inline constexpr Colour black{0, 0, 0};        ///< black
inline constexpr Colour white{255, 255, 255};  ///< white

/// An image. Pixels are stored row by row from the top, each row from the left.
struct Image {
  std::int64_t width = 0;      ///< pixels per row
  std::int64_t height = 0;     ///< number of rows
  std::vector<Colour> pixels;  ///< width * height pixels

  /// The pixel in column x of row y, unchecked.
  Colour& at(std::int64_t x, std::int64_t y) { return pixels[index(x, y)]; }
  /// The pixel in column x of row y, unchecked.
  const Colour& at(std::int64_t x, std::int64_t y) const { return pixels[index(x, y)]; }

  /// Whether two images are equal.
  bool operator==(const Image&) const = default;

 private:
  std::size_t index(std::int64_t x, std::int64_t y) const {
    return static_cast<std::size_t>(y * width + x);
  }
};

/// The largest width and height of an image. It keeps a tiny file from requesting all memory.
inline constexpr std::int64_t max_side = 16384;

/// The error message for an image size with a side below 1 or above `max_side`; empty if valid.
std::string size_error(std::int64_t width, std::int64_t height);

/// Throws in the name of `where` if the image size is invalid.
void check_size(std::string_view where, std::int64_t width, std::int64_t height);

/// Throws in the name of `where` if the size is invalid or does not match the number of pixels.
void check_image(std::string_view where, const Image& image);

/// An image of one colour.
Image filled_image(std::int64_t width, std::int64_t height, Colour colour);

/// Scales an image up: every pixel becomes a square of `factor` by `factor` pixels.
Image enlarged(const Image& image, std::int64_t factor);

/// The eight colours of three bits: bit 0 of the index is red, bit 1 green, bit 2 blue.
inline constexpr std::array<Colour, 8> eight_colours = {{{0, 0, 0},
                                                         {255, 0, 0},
                                                         {0, 255, 0},
                                                         {255, 255, 0},
                                                         {0, 0, 255},
                                                         {255, 0, 255},
                                                         {0, 255, 255},
                                                         {255, 255, 255}}};

/// The index of the nearest of `eight_colours` in RGB space.
int nearest_of_eight(Colour colour);

}  // namespace boolgrad::picture
