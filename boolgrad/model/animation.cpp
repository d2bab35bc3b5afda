#include "boolgrad/model/animation.h"

#include <algorithm>
#include <vector>

#include "boolgrad/model/state_image.h"

namespace boolgrad {

std::int64_t pixels_per_cell(std::int64_t height, std::int64_t width) {
  constexpr std::int64_t min_side = 320;
  constexpr std::int64_t max_side = 512;
  const std::int64_t side = std::max(height, width);
  return std::max<std::int64_t>(1, std::min((min_side + side - 1) / side, max_side / side));
}

FrameChoice::FrameChoice(std::int64_t steps) : steps_(steps) {
  constexpr std::int64_t max_frames = 200;
  every_ = std::max<std::int64_t>((steps + max_frames - 1) / max_frames, 1);
}

int FrameChoice::duration(std::int64_t step) const {
  constexpr int first = 50;
  constexpr int last = 200;
  if (step == steps_) return last;
  if (step == 0) return first;
  const std::int64_t frames = steps_ / every_ + 1;
  return static_cast<int>(std::clamp<std::int64_t>(600 / frames, 4, 20));
}

GifRecorder::GifRecorder(const std::filesystem::path& path, const Playback& playback)
    : frames_(playback.steps),
      channels_(playback.channels),
      file_(path, playback.size.width * pixels_per_cell(playback.size.height, playback.size.width),
            playback.size.height * pixels_per_cell(playback.size.height, playback.size.width),
            picture::eight_colours) {}

void GifRecorder::add(std::int64_t step, const automata::BitGrid& state) {
  const picture::Image cells = state_image(state, channels_);
  const picture::Image large = picture::enlarged(cells, pixels_per_cell(cells.height, cells.width));
  std::vector<std::uint8_t> indices(large.pixels.size());
  std::ranges::transform(large.pixels, indices.begin(), [](picture::Colour colour) {
    return static_cast<std::uint8_t>(picture::nearest_of_eight(colour));
  });
  file_.add(indices, frames_.duration(step));
  if (frames_.is_last(step)) file_.finish();
}

}  // namespace boolgrad
