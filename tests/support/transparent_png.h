// PNG files with transparency.
#pragma once

#include <gtest/gtest.h>
#include <png.h>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace boolgrad::testing_support {

/// Writes an image of four bytes per pixel: red, green, blue and opacity.
inline void write_rgba(const std::filesystem::path& path, int width,
                       const std::vector<std::uint8_t>& bytes) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(bytes.size() / 4 / static_cast<std::size_t>(width));
  image.format = PNG_FORMAT_RGBA;
  ASSERT_NE(png_image_write_to_file(&image, path.c_str(), 0, bytes.data(), 0, nullptr), 0);
}

}  // namespace boolgrad::testing_support
