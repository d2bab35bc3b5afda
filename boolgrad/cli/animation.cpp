#include "boolgrad/cli/animation.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "boolgrad/model/state_image.h"
#include "boolgrad/picture/reduce.h"

namespace boolgrad::cli {
namespace {

/// Reduces an image to the width of a text file.
picture::Image for_text(const picture::Image& cells) {
  constexpr std::int64_t columns = 80;
  if (cells.width <= columns) return cells;
  return picture::reduced(cells, columns,
                          std::max<std::int64_t>(1, cells.height * columns / cells.width));
}

}  // namespace

picture::Image for_terminal(const picture::Image& cells) {
  constexpr std::int64_t side = 40;  // fits into 80 columns and 24 lines of two rows each
  const std::int64_t longest = std::max(cells.width, cells.height);
  return longest * 2 <= side ? picture::enlarged(cells, side / longest) : cells;
}

AnimationRecorder::AnimationRecorder(const AnimationOptions& options, const Playback& playback)
    : frames_(playback.steps, options.frames),
      steps_(playback.steps),
      channels_(playback.channels),
      next_show_(std::chrono::steady_clock::now()) {
  if (!options.gif.empty()) gif_.emplace(options.gif, playback, options.frames);
  if (!options.mp4.empty()) mp4_.emplace(options.mp4, playback, options.frames);
  if (options.show) terminal_.emplace(stdout);
}

void AnimationRecorder::add(std::int64_t step, const automata::BitGrid& state) {
  if (gif_) gif_->add(step, state);
  if (mp4_) mp4_->add(step, state);
  if (terminal_) show(step, state_image(state, channels_));
}

void AnimationRecorder::show(std::int64_t step, const picture::Image& cells) {
  constexpr std::chrono::milliseconds frame{66};
  const bool last = frames_.is_last(step);
  if (!terminal_->live()) {
    if (last) terminal_->finish(for_text(cells), "");
    return;
  }
  std::this_thread::sleep_until(next_show_);
  next_show_ = std::chrono::steady_clock::now() + frame;
  const std::string caption = fmt::format("step {} of {}", step, steps_);
  if (last) terminal_->finish(for_terminal(cells), caption);
  else terminal_->show(for_terminal(cells), caption);
}

}  // namespace boolgrad::cli
