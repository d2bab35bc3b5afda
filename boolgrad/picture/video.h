// Video files, encoded by ffmpeg where it is installed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "boolgrad/picture/image.h"

namespace boolgrad::picture {

/// Writes an MP4 file, frame by frame, through the program `ffmpeg`. The file appears at `path`
/// only with `finish`.
class VideoWriter {
 public:
  /// All frames have `width` by `height` pixels. Throws if no `ffmpeg` is in PATH.
  VideoWriter(const std::filesystem::path& path, std::int64_t width, std::int64_t height,
              double frames_per_second);
  /// Ends ffmpeg and removes what it has written, unless it was finished.
  ~VideoWriter();
  VideoWriter(const VideoWriter&) = delete;
  VideoWriter& operator=(const VideoWriter&) = delete;

  /// Adds a frame.
  void add(const Image& frame);

  /// Completes the file. No frame can be added afterwards.
  void finish();

 private:
  class Encoder;
  std::unique_ptr<Encoder> encoder_;
};

}  // namespace boolgrad::picture
