// Patterns that automata learn to grow.
#pragma once

#include <cstdint>
#include <filesystem>

#include "boolgrad/picture/image.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

struct Pattern {
  Tensor bits;  ///< uint8, 0 or 1, [channels, height, width]
};

/// The most cells to a side that a pattern may have.
inline constexpr std::int64_t longest_pattern_side = 4096;

/// One channel of squares of `square` by `square` cells. Cell (y, x) is on where y / square +
/// x / square is odd, so the upper left corner is off.
Pattern checkerboard_pattern(std::int64_t height, std::int64_t width, std::int64_t square);

/// Reads a bitmap from a text file, a line a row, all of one length.
///
/// `.` and `#` are off and on, in one channel. The letters k r g y b m c w are black, red, green,
/// yellow, blue, magenta, cyan and white, in three channels red, green and blue; among them `.` is
/// black too. A file holds `#` or letters, never both; with dots alone it has one channel. Empty
/// lines at the end are passed over.
Pattern read_bitmap(const std::filesystem::path& path);

/// A PNG on a grid of `height` by `width`: each cell is the average of what it covers, then the
/// nearest of the eight colours, in three channels red, green and blue.
Pattern picture_pattern(const std::filesystem::path& path, std::int64_t height, std::int64_t width);

/// A pattern or the state of an automaton as a picture, a pixel a cell: the first three channels as
/// red, green and blue, or, where there are one or two, the first as black and white. Any value but
/// 0 is on.
Image pattern_image(const Tensor& bits);

}  // namespace boolgrad
