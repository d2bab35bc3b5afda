// Reading and writing PNG files.
#pragma once

#include <filesystem>

#include "boolgrad/picture/image.h"

namespace boolgrad {

/// Reads a PNG of any kind: grey, palette or colour, up to 16 bits deep. What is transparent is
/// laid over white. Another kind of file, a damaged one, and one of more than `longest_side`
/// pixels to a side are refused, the last before memory is asked for.
Image read_png(const std::filesystem::path& path);

/// Writes a picture, so that `path` holds either what it held before or all of the new picture.
void write_png(const std::filesystem::path& path, const Image& image);

}  // namespace boolgrad
