// Animated GIF files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "boolgrad/picture/image.h"

namespace boolgrad::picture {

/// Writes an endlessly repeating animation, frame by frame.
///
/// The file appears at `path` only with `finish`. Of each frame only the rectangle that differs
/// from the previous frame is stored.
class GifWriter {
 public:
  /// All frames have `width` by `height` pixels and share a palette of 1 to 256 colours.
  GifWriter(const std::filesystem::path& path, std::int64_t width, std::int64_t height,
            std::span<const Colour> palette);
  ~GifWriter();
  GifWriter(const GifWriter&) = delete;
  GifWriter& operator=(const GifWriter&) = delete;

  /// Adds a frame shown for `hundredths` of a second: one palette index per pixel, row by row. Many
  /// viewers show frames below 2 hundredths for 10.
  void add(std::span<const std::uint8_t> palette_indices, int hundredths);

  /// Completes the file, which needs at least one frame. No frame can be added afterwards.
  void finish();

 private:
  class Encoder;
  std::unique_ptr<Encoder> encoder_;
};

/// The frames of an animation as a viewer shows them, all of the size of the screen. What no frame
/// covers is black. Throws for other file types, damaged files and more than 2^27 pixels in all, or
/// 2^16 per byte of the file.
std::vector<Image> read_gif(const std::filesystem::path& path);

}  // namespace boolgrad::picture
