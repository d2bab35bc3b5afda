#include "boolgrad/cli/animation.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "boolgrad/cli/automaton.h"
#include "boolgrad/picture/reduce.h"

namespace boolgrad::cli {
namespace {

constexpr std::int64_t max_frames = 200;

/// Duration of a frame in hundredths of a second. The animation takes about six seconds; the first
/// and the last frame are shown for longer.
int frame_time(std::int64_t step, std::int64_t steps, std::int64_t every) {
  constexpr int first = 50;
  constexpr int last = 200;
  if (step == steps) return last;
  if (step == 0) return first;
  const std::int64_t frames = steps / every + 1;
  return static_cast<int>(std::clamp<std::int64_t>(600 / frames, 4, 20));
}

/// Reduces an image to the width of a text file.
picture::Image for_text(const picture::Image& cells) {
  constexpr std::int64_t columns = 80;
  if (cells.width <= columns) return cells;
  return picture::reduced(cells, columns,
                          std::max<std::int64_t>(1, cells.height * columns / cells.width));
}

}  // namespace

std::int64_t pixels_per_cell(std::int64_t height, std::int64_t width) {
  constexpr std::int64_t min_side = 320;
  constexpr std::int64_t max_side = 512;
  const std::int64_t side = std::max(height, width);
  return std::max<std::int64_t>(1, std::min((min_side + side - 1) / side, max_side / side));
}

AnimationRecorder::AnimationRecorder(const AnimationOptions& options)
    : options_(options),
      every_((options.steps + max_frames - 1) / max_frames),
      next_show_(std::chrono::steady_clock::now()) {
  every_ = std::max<std::int64_t>(every_, 1);
  if (!options.gif.empty()) {
    const std::int64_t scale = pixels_per_cell(options.height, options.width);
    gif_.emplace(options.gif, options.width * scale, options.height * scale,
                 picture::eight_colours);
  }
  if (options.show) terminal_.emplace(stdout);
}

bool AnimationRecorder::wants(std::int64_t step, bool notable) const {
  if (!is_active()) return false;
  return notable || step % every_ == 0 || step == options_.steps;
}

void AnimationRecorder::add(std::int64_t step, const picture::Image& cells) {
  if (gif_) write(step, cells);
  if (terminal_) show(step, cells);
}

void AnimationRecorder::write(std::int64_t step, const picture::Image& cells) {
  const picture::Image large = picture::enlarged(cells, pixels_per_cell(cells.height, cells.width));
  std::vector<std::uint8_t> indices(large.pixels.size());
  std::ranges::transform(large.pixels, indices.begin(), [](picture::Colour colour) {
    return static_cast<std::uint8_t>(picture::nearest_of_eight(colour));
  });
  gif_->add(indices, frame_time(step, options_.steps, every_));
  if (step == options_.steps) gif_->finish();
}

void AnimationRecorder::show(std::int64_t step, const picture::Image& cells) {
  constexpr std::chrono::milliseconds frame{66};
  const bool last = step == options_.steps;
  if (!terminal_->live()) {
    if (last) terminal_->finish(for_text(cells), "");
    return;
  }
  std::this_thread::sleep_until(next_show_);
  next_show_ = std::chrono::steady_clock::now() + frame;
  const std::string caption = fmt::format("step {} of {}", step, options_.steps);
  if (last) terminal_->finish(for_terminal(cells), caption);
  else terminal_->show(for_terminal(cells), caption);
}

}  // namespace boolgrad::cli
