#include "boolgrad/cli/film.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "boolgrad/cli/automaton.h"
#include "boolgrad/picture/reduce.h"

namespace boolgrad::cli {
namespace {

constexpr std::int64_t most_frames = 200;

/// Hundredths of a second that a frame stands: the film takes about six seconds, the first frame
/// a little longer and the last long enough to be looked at.
int frame_time(std::int64_t step, std::int64_t steps, std::int64_t every) {
  constexpr int first = 50;
  constexpr int last = 200;
  if (step == steps) return last;
  if (step == 0) return first;
  const std::int64_t frames = steps / every + 1;
  return static_cast<int>(std::clamp<std::int64_t>(600 / frames, 4, 20));
}

/// A picture that is printed once, as text, in lines that can be read.
Image for_paper(const Image& cells) {
  constexpr std::int64_t columns = 80;
  if (cells.width <= columns) return cells;
  return reduced(cells, columns, std::max<std::int64_t>(1, cells.height * columns / cells.width));
}

}  // namespace

std::int64_t pixels_per_cell(std::int64_t height, std::int64_t width) {
  constexpr std::int64_t least = 320;
  constexpr std::int64_t most = 512;
  const std::int64_t side = std::max(height, width);
  return std::max<std::int64_t>(1, std::min((least + side - 1) / side, most / side));
}

Film::Film(const FilmOptions& options)
    : options_(options),
      every_((options.steps + most_frames - 1) / most_frames),
      next_show_(std::chrono::steady_clock::now()) {
  every_ = std::max<std::int64_t>(every_, 1);
  if (!options.gif.empty()) {
    const std::int64_t scale = pixels_per_cell(options.height, options.width);
    gif_.emplace(options.gif, options.width * scale, options.height * scale, eight_colours);
  }
  if (options.show) animation_.emplace(stdout);
}

bool Film::wants(std::int64_t step, bool notable) const {
  if (!records()) return false;
  return notable || step % every_ == 0 || step == options_.steps;
}

void Film::add(std::int64_t step, const Image& cells) {
  if (gif_) write(step, cells);
  if (animation_) show(step, cells);
}

void Film::write(std::int64_t step, const Image& cells) {
  const Image large = enlarged(cells, pixels_per_cell(cells.height, cells.width));
  std::vector<std::uint8_t> indices(large.pixels.size());
  std::ranges::transform(large.pixels, indices.begin(), [](Colour colour) {
    return static_cast<std::uint8_t>(nearest_of_eight(colour));
  });
  gif_->add(indices, frame_time(step, options_.steps, every_));
  if (step == options_.steps) gif_->finish();
}

void Film::show(std::int64_t step, const Image& cells) {
  constexpr std::chrono::milliseconds frame{66};
  const bool last = step == options_.steps;
  if (!animation_->live()) {
    if (last) animation_->finish(for_paper(cells), "");
    return;
  }
  std::this_thread::sleep_until(next_show_);
  next_show_ = std::chrono::steady_clock::now() + frame;
  const std::string caption = fmt::format("step {} of {}", step, options_.steps);
  if (last) animation_->finish(for_terminal(cells), caption);
  else animation_->show(for_terminal(cells), caption);
}

}  // namespace boolgrad::cli
