// Patterns that automata learn to grow.
#pragma once

#include <cstdint>
#include <filesystem>

#include "boolgrad/picture/image.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::data {

struct Pattern {
  Tensor bits;  ///< uint8, 0 or 1, [channels, height, width]
};

/// Maximum number of cells per side of a pattern.
inline constexpr std::int64_t longest_pattern_side = 4096;

/// One channel with squares of `square` by `square` cells. Cell (y, x) is on if y / square +
/// x / square is odd, so the upper left corner is off.
Pattern checkerboard_pattern(std::int64_t height, std::int64_t width, std::int64_t square);

/// Reads a bitmap from a text file with one line per row. All rows have the same length.
///
/// `.` and `#` are off and on, in one channel. The letters k r g y b m c w are black, red, green,
/// yellow, blue, magenta, cyan and white, in three channels; `.` is then black. A file contains `#`
/// or letters, never both. A file of dots only has one channel. Empty lines at the end are ignored.
Pattern read_bitmap(const std::filesystem::path& path);

/// Scales a PNG to `height` by `width` cells. Each cell gets the average colour of its area,
/// rounded to the nearest of eight colours, in three channels: red, green and blue.
Pattern picture_pattern(const std::filesystem::path& path, std::int64_t height, std::int64_t width);

/// A PNG on a grid of its own.
///
/// A picture of up to `max_side` pixels per side is taken as it is; squares of equal pixels count
/// as one. A larger one is reduced to 16 cells, or `max_side` if that is less, on its longer side.
///
/// Transparent cells are background and off. In an opaque picture the background is the most
/// frequent colour of the cells at its edge. If all other cells have one colour, the pattern has
/// one channel. Otherwise it has three, and the background is off unless a cell is black.
Pattern fitted_pattern(const std::filesystem::path& path, std::int64_t max_side);

/// An image with one pixel per cell: the first three channels as red, green and blue, or the first
/// channel in black and white if there are fewer. All values but 0 are on.
picture::Image pattern_image(const Tensor& bits);

}  // namespace boolgrad::data
