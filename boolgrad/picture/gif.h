// Animated GIF files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "boolgrad/picture/image.h"

namespace boolgrad {

/// Writes an animation that repeats for ever, frame by frame.
///
/// It is written beside `path` and takes its place with `finish`; without, nothing is left. Of a
/// frame only the rectangle that differs from the one before is stored.
class GifWriter {
 public:
  /// All frames are `width` by `height` pixels in the 1 to 256 colours of `palette`.
  GifWriter(const std::filesystem::path& path, std::int64_t width, std::int64_t height,
            std::span<const Colour> palette);
  ~GifWriter();
  GifWriter(const GifWriter&) = delete;
  GifWriter& operator=(const GifWriter&) = delete;

  /// Adds a frame that stands for so many hundredths of a second: an index into the palette for
  /// every pixel, row by row. Many viewers show frames of less than 2 hundredths for 10.
  void add(std::span<const std::uint8_t> palette_indices, int hundredths);

  /// Ends the file, which needs at least one frame, and gives it its name. Nothing can be added
  /// afterwards.
  void finish();

 private:
  class Encoder;
  std::unique_ptr<Encoder> encoder_;
};

}  // namespace boolgrad
