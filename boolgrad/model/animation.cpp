#include "boolgrad/model/animation.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "boolgrad/core/fail.h"
#include "boolgrad/model/state_image.h"

namespace boolgrad {

std::int64_t pixels_per_cell(std::int64_t height, std::int64_t width) {
  constexpr std::int64_t min_side = 320;
  constexpr std::int64_t max_side = 512;
  const std::int64_t side = std::max(height, width);
  return std::max<std::int64_t>(1, std::min((min_side + side - 1) / side, max_side / side));
}

namespace {

/// Checks the options of an animation.
FrameOptions checked(const FrameOptions& options) {
  constexpr std::int64_t max_scale = 256;
  constexpr double max_fps = 100;
  const auto check = [](const std::optional<std::int64_t>& value, std::string_view name,
                        std::int64_t max) {
    if (!value || (*value >= 1 && *value <= max)) return;
    fail("animation", "expected {} from 1 to {}, received {}", name, max, *value);
  };
  check(options.every, "every", max_playback_steps);
  check(options.last, "last", max_playback_steps);
  check(options.scale, "scale", max_scale);
  if (options.fps && !(*options.fps >= 0.1 && *options.fps <= max_fps)) {
    fail("animation", "expected fps from 0.1 to {}, received {}", max_fps, *options.fps);
  }
  return options;
}

constexpr double default_fps = 25;

}  // namespace

FrameChoice::FrameChoice(std::int64_t steps, const FrameOptions& options)
    : options_(checked(options)),
      steps_(steps),
      first_(std::max<std::int64_t>(0, steps - options.last.value_or(steps))) {
  constexpr std::int64_t usual_frames = 200;
  every_ = options.every.value_or(
      std::max<std::int64_t>((steps_ - first_ + usual_frames - 1) / usual_frames, 1));
  if (frames() > max_frames) {
    fail("animation", "expected at most {} frames, received {}: choose a larger every", max_frames,
         frames());
  }
}

int FrameChoice::duration(std::int64_t step) const {
  constexpr int first = 50;
  constexpr int last = 200;
  if (step == steps_) return last;
  if (step == first_) return first;
  constexpr double second = 100;
  if (options_.fps) return static_cast<int>(std::lround(second / *options_.fps));
  return static_cast<int>(std::clamp<std::int64_t>(600 / frames(), 4, 20));
}

namespace {

std::int64_t scale_of(const Playback& playback, const FrameOptions& options) {
  return options.scale.value_or(pixels_per_cell(playback.size.height, playback.size.width));
}

}  // namespace

GifRecorder::GifRecorder(const std::filesystem::path& path, const Playback& playback,
                         const FrameOptions& options)
    : frames_(playback.steps, options),
      channels_(playback.channels),
      scale_(scale_of(playback, options)),
      file_(path, playback.size.width * scale_, playback.size.height * scale_,
            picture::eight_colours) {}

void GifRecorder::add(std::int64_t step, const automata::BitGrid& state) {
  const picture::Image large = picture::enlarged(state_image(state, channels_), scale_);
  std::vector<std::uint8_t> indices(large.pixels.size());
  std::ranges::transform(large.pixels, indices.begin(), [](picture::Colour colour) {
    return static_cast<std::uint8_t>(picture::nearest_of_eight(colour));
  });
  file_.add(indices, frames_.duration(step));
  if (frames_.is_last(step)) file_.finish();
}

VideoRecorder::VideoRecorder(const std::filesystem::path& path, const Playback& playback,
                             const FrameOptions& options)
    : frames_(playback.steps, options),
      channels_(playback.channels),
      scale_(scale_of(playback, options)),
      fps_(options.fps.value_or(default_fps)),
      file_(path, playback.size.width * scale_, playback.size.height * scale_, fps_) {}

void VideoRecorder::add(std::int64_t step, const automata::BitGrid& state) {
  const picture::Image large = picture::enlarged(state_image(state, channels_), scale_);
  const auto times = std::lround(frames_.duration(step) * fps_ / 100);
  for (std::int64_t i = 0; i < std::max<std::int64_t>(1, times); ++i) file_.add(large);
  if (frames_.is_last(step)) file_.finish();
}

}  // namespace boolgrad
