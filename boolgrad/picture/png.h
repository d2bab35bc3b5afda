// Reading and writing PNG files.
#pragma once

#include <filesystem>

#include "boolgrad/picture/image.h"

namespace boolgrad::picture {

/// Reads a PNG file: greyscale, palette or colour, up to 16 bits per sample. Transparent pixels are
/// blended with white. Throws for other file types, damaged files and images with a side above
/// `max_side`.
Image read_png(const std::filesystem::path& path);

/// Writes a PNG file atomically: `path` holds either its old content or the complete image.
void write_png(const std::filesystem::path& path, const Image& image);

}  // namespace boolgrad::picture
