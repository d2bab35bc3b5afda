// Animations of an automaton, as a GIF file and in the terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "boolgrad/picture/gif.h"
#include "boolgrad/picture/image.h"
#include "boolgrad/picture/terminal.h"

namespace boolgrad::cli {

/// Pixels per cell side for an image of about 320 to 512 pixels along its longer side. At least 1.
std::int64_t pixels_per_cell(std::int64_t height, std::int64_t width);

struct AnimationOptions {
  std::string gif;    ///< output file; empty for none
  bool show = false;  ///< show about 15 frames per second on a terminal, else only the last state
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t steps = 0;  ///< number of steps after the start
};

class AnimationRecorder {
 public:
  /// Throws if the file cannot be written or the grid is too large for an image.
  explicit AnimationRecorder(const AnimationOptions& options);

  /// Whether there is any output.
  bool is_active() const { return gif_ || terminal_; }

  /// Whether the state after `step` steps is a frame. The first, the last and all `notable` states
  /// are; the others are thinned out if there are too many.
  bool wants(std::int64_t step, bool notable) const;

  /// Adds a frame with one pixel per cell, in the eight colours. The last frame ends the animation.
  void add(std::int64_t step, const picture::Image& cells);

 private:
  void write(std::int64_t step, const picture::Image& cells);
  void show(std::int64_t step, const picture::Image& cells);

  AnimationOptions options_;
  std::int64_t every_;  ///< steps per frame
  std::optional<picture::GifWriter> gif_;
  std::optional<picture::Animation> terminal_;
  std::chrono::steady_clock::time_point next_show_;
};

}  // namespace boolgrad::cli
