// Reading and writing PNG files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "boolgrad/picture/image.h"

namespace boolgrad::picture {

/// Reads a PNG file: greyscale, palette or colour, up to 16 bits per sample. Transparent pixels are
/// blended with white. Throws for other file types, damaged files and images with a side above
/// `max_side`.
Image read_png(const std::filesystem::path& path);

/// An image, and how opaque its pixels are.
struct OpaqueImage {
  Image image;                        ///< colours, black where a pixel is fully transparent
  std::vector<std::uint8_t> opacity;  ///< of each pixel: 0 is transparent, 255 opaque
};

/// Reads a PNG file as `read_png` does, without blending transparent pixels.
OpaqueImage read_png_with_opacity(const std::filesystem::path& path);

/// Writes a PNG file atomically: `path` holds either its old content or the complete image.
void write_png(const std::filesystem::path& path, const Image& image);

}  // namespace boolgrad::picture
