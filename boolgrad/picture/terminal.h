// Pictures in a terminal.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "boolgrad/picture/image.h"

namespace boolgrad {

enum class TerminalStyle : std::uint8_t {
  /// Half-block characters in 24-bit colours: a column a pixel, two rows of pixels a line. Every
  /// line ends with the colours reset.
  colour,
  /// ASCII from `.` (black) to `#` (white) by brightness, without escape codes. A pixel takes two
  /// characters, which makes it about square, or one where 80 columns would not hold two. The
  /// eight colours remain eight.
  plain,
};

/// The picture as lines of text, each with its newline.
std::string terminal_text(const Image& image, TerminalStyle style);

/// A picture over a line of text, redrawn in place.
///
/// Where nothing can be redrawn (a file, a pipe, `TERM=dumb`) or no colours are wanted
/// (`NO_COLOR`), only the last picture is printed, in plain style. The cursor is hidden while a
/// frame is drawn and never between frames, so that a program that is stopped leaves it visible.
class Animation {
 public:
  explicit Animation(std::FILE* to);
  /// Leaves what was drawn last standing, and the cursor below it.
  ~Animation();
  Animation(const Animation&) = delete;
  Animation& operator=(const Animation&) = delete;

  /// Whether `show` draws. Lets the caller skip making the picture.
  bool live() const { return live_; }

  /// Draws over what was drawn before, smaller where the terminal is too small; where it is too
  /// small for any picture, the caption alone.
  void show(const Image& image, const std::string& caption);

  /// Draws the last picture and goes to the line below. Where the animation is not live this is
  /// all that is ever printed.
  void finish(const Image& image, const std::string& caption);

 private:
  std::FILE* to_;
  bool live_;
  std::size_t lines_ = 0;   ///< of pictures above the caption
  bool line_open_ = false;  ///< the cursor stands behind a caption
};

}  // namespace boolgrad
