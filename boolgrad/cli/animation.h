// Animations of an automaton, as GIF and MP4 files and in the terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "boolgrad/model/animation.h"
#include "boolgrad/model/playback.h"
#include "boolgrad/picture/image.h"
#include "boolgrad/picture/terminal.h"

namespace boolgrad::cli {

/// Enlarges an image of few cells for the terminal.
picture::Image for_terminal(const picture::Image& cells);

struct AnimationOptions {
  std::string gif;  ///< output file; empty for none
  std::string mp4;  ///< output file; empty for none
  FrameOptions frames = {};
  bool show = false;  ///< show about 15 frames per second on a terminal, else only the last state
};

class AnimationRecorder final : public FrameSink {
 public:
  /// Throws if the file cannot be written or the grid is too large for an image.
  AnimationRecorder(const AnimationOptions& options, const Playback& playback);

  bool is_active() const override { return gif_ || mp4_ || terminal_; }
  bool wants(std::int64_t step, bool notable) const override {
    return frames_.contains(step, notable);
  }
  /// The last frame ends the animation.
  void add(std::int64_t step, const automata::BitGrid& state) override;
  /// Which states are frames.
  const FrameChoice& frames() const { return frames_; }

 private:
  void show(std::int64_t step, const picture::Image& cells);

  FrameChoice frames_;
  std::int64_t steps_;
  std::int64_t channels_;
  std::optional<GifRecorder> gif_;
  std::optional<VideoRecorder> mp4_;
  std::optional<picture::Animation> terminal_;
  std::chrono::steady_clock::time_point next_show_;
};

}  // namespace boolgrad::cli
