// Images in a terminal.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "boolgrad/picture/image.h"

namespace boolgrad::picture {

/// How images are drawn in a terminal.
enum class TerminalStyle : std::uint8_t {
  /// Half-block characters in 24-bit colours: one column per pixel and one line per two rows of
  /// pixels. Every line ends with a colour reset.
  colour,
  /// ASCII characters by brightness, from a dot (black) to a hash sign (white), without escape
  /// codes. A pixel takes two characters, or one if the image would exceed 80 columns. The eight
  /// colours stay distinct.
  plain,
};

/// The image as lines of text, each with a newline.
std::string terminal_text(const Image& image, TerminalStyle style);

/// An image with a caption, redrawn in place.
///
/// If the output cannot be redrawn (a file, a pipe, `TERM=dumb`) or `NO_COLOR` is set, only the
/// last image is printed, in plain style. The cursor is hidden only while a frame is drawn, so that
/// a stopped program leaves it visible.
class Animation {
 public:
  /// An animation on `to`.
  explicit Animation(std::FILE* to);
  /// Leaves the last frame on the screen and the cursor below it.
  ~Animation();
  Animation(const Animation&) = delete;
  Animation& operator=(const Animation&) = delete;

  /// Whether `show` draws. Lets the caller skip rendering the image.
  bool live() const { return live_; }

  /// Draws over the previous frame. The image is scaled down to fit the terminal. A terminal that
  /// is too small for an image shows the caption alone.
  void show(const Image& image, const std::string& caption);

  /// Draws the last image and moves to the next line. An animation that is not live prints only
  /// this.
  void finish(const Image& image, const std::string& caption);

 private:
  std::FILE* to_;
  bool live_;
  std::size_t lines_ = 0;   ///< lines of the image above the caption
  bool line_open_ = false;  ///< whether the cursor is at the end of a caption
};

}  // namespace boolgrad::picture
