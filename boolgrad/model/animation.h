// Animations of automata as GIF files.
#pragma once

#include <cstdint>
#include <filesystem>

#include "boolgrad/model/playback.h"
#include "boolgrad/picture/gif.h"
#include "boolgrad/picture/image.h"

namespace boolgrad {

/// Pixels per cell side for an image of about 320 to 512 pixels along its longer side. At least 1.
std::int64_t pixels_per_cell(std::int64_t height, std::int64_t width);

/// Which states of a playback are frames of its animation. The first, the last and all notable
/// states are; the others are thinned out if there are too many.
class FrameChoice {
 public:
  /// `steps` is the number of steps after the start.
  explicit FrameChoice(std::int64_t steps);

  bool contains(std::int64_t step, bool notable) const {
    return notable || step % every_ == 0 || step == steps_;
  }
  /// Duration of a frame in hundredths of a second. The animation takes about six seconds; the
  /// first and the last frame are shown for longer.
  int duration(std::int64_t step) const;
  bool is_last(std::int64_t step) const { return step == steps_; }

 private:
  std::int64_t steps_;
  std::int64_t every_;  ///< steps per frame
};

/// Writes an animation in the eight colours.
class GifRecorder final : public FrameSink {
 public:
  /// Throws if the file cannot be written or the grid is too large for an image.
  GifRecorder(const std::filesystem::path& path, const Playback& playback);

  bool wants(std::int64_t step, bool notable) const override {
    return frames_.contains(step, notable);
  }
  void add(std::int64_t step, const automata::BitGrid& state) override;

 private:
  FrameChoice frames_;
  std::int64_t channels_;
  picture::GifWriter file_;
};

}  // namespace boolgrad
