// The states of an automaton one after the other, in a GIF file and in the terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "boolgrad/picture/gif.h"
#include "boolgrad/picture/image.h"
#include "boolgrad/picture/terminal.h"

namespace boolgrad::cli {

/// Pixels along the side of a cell that make a picture of so many cells easy to look at: about 320
/// to 512 pixels along its longer side, where it is not longer without.
std::int64_t pixels_per_cell(std::int64_t height, std::int64_t width);

struct FilmOptions {
  std::string gif;    ///< file; empty for none
  bool show = false;  ///< in the terminal, at about 15 frames a second; without one the last only
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t steps = 0;  ///< that follow the start
};

class Film {
 public:
  /// Refuses a file that cannot be written and sides that no picture can have.
  explicit Film(const FilmOptions& options);

  /// Whether anybody looks at it at all.
  bool records() const { return gif_ || animation_; }

  /// Whether the state after so many steps is a frame. The first and the last are, those that
  /// are `notable`, and all of them where they are not too many.
  bool wants(std::int64_t step, bool notable) const;

  /// Takes the next frame, a pixel a cell, in the eight colours. The last one ends the film.
  void add(std::int64_t step, const Image& cells);

 private:
  void write(std::int64_t step, const Image& cells);
  void show(std::int64_t step, const Image& cells);

  FilmOptions options_;
  std::int64_t every_;  ///< so many steps a frame
  std::optional<GifWriter> gif_;
  std::optional<Animation> animation_;
  std::chrono::steady_clock::time_point next_show_;
};

}  // namespace boolgrad::cli
