// Animations of automata as GIF and MP4 files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "boolgrad/model/playback.h"
#include "boolgrad/picture/gif.h"
#include "boolgrad/picture/image.h"
#include "boolgrad/picture/video.h"

namespace boolgrad {

/// Pixels per cell side for an image of about 320 to 512 pixels along its longer side. At least 1.
std::int64_t pixels_per_cell(std::int64_t height, std::int64_t width);

/// Choices of an animation. Those without a value are made from the size and length of the run.
struct FrameOptions {
  std::optional<std::int64_t> every = {};  ///< steps per frame
  std::optional<std::int64_t> last = {};   ///< only the states after the last so many steps
  std::optional<double> fps = {};          ///< frames per second
  std::optional<std::int64_t> scale = {};  ///< pixels per cell side
};

/// The largest number of frames of an animation.
inline constexpr std::int64_t max_frames = 10'000;

/// Which states of a playback are frames of its animation. The first, the last and all notable
/// states are; the others are thinned out to about 200 unless `every` is given.
class FrameChoice {
 public:
  /// `steps` is the number of steps after the start. Throws for options outside of their ranges and
  /// for more than `max_frames`, not counting notable states.
  explicit FrameChoice(std::int64_t steps, const FrameOptions& options = {});

  bool contains(std::int64_t step, bool notable) const {
    if (step < first_) return false;
    return notable || (step - first_) % every_ == 0 || step == steps_;
  }
  /// Duration of a frame in hundredths of a second. Without a frame rate, the animation takes about
  /// six seconds. The first and the last frame are shown for longer.
  int duration(std::int64_t step) const;
  bool is_last(std::int64_t step) const { return step == steps_; }
  /// Steps per frame.
  std::int64_t every() const { return every_; }
  /// Whether states are left out although nobody asked for it.
  bool is_thinned() const { return every_ > 1 && !options_.every; }

 private:
  std::int64_t frames() const { return (steps_ - first_) / every_ + 1; }

  FrameOptions options_;
  std::int64_t steps_;
  std::int64_t first_;  ///< the first state that is a frame
  std::int64_t every_;  ///< steps per frame
};

/// Writes an animation in the eight colours.
class GifRecorder final : public FrameSink {
 public:
  /// Throws if the file cannot be written or the grid is too large for an image.
  GifRecorder(const std::filesystem::path& path, const Playback& playback,
              const FrameOptions& options = {});

  bool wants(std::int64_t step, bool notable) const override {
    return frames_.contains(step, notable);
  }
  void add(std::int64_t step, const automata::BitGrid& state) override;

 private:
  FrameChoice frames_;
  std::int64_t channels_;
  std::int64_t scale_;
  picture::GifWriter file_;
};

/// Writes a video. It has 25 frames per second unless a rate is given, and repeats states so that
/// they are shown as long as in a GIF file.
class VideoRecorder final : public FrameSink {
 public:
  /// Throws as `GifRecorder` does, and if ffmpeg is not installed.
  VideoRecorder(const std::filesystem::path& path, const Playback& playback,
                const FrameOptions& options = {});

  bool wants(std::int64_t step, bool notable) const override {
    return frames_.contains(step, notable);
  }
  void add(std::int64_t step, const automata::BitGrid& state) override;

 private:
  FrameChoice frames_;
  std::int64_t channels_;
  std::int64_t scale_;
  double fps_;
  picture::VideoWriter file_;
};

}  // namespace boolgrad
