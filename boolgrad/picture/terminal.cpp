#include "boolgrad/picture/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "boolgrad/core/text.h"
#include "boolgrad/core/tty.h"
#include "boolgrad/picture/reduce.h"

namespace boolgrad::picture {
namespace {

// ---------------------------------------------------------------------------------------------
// Text

constexpr std::string_view reset = "\x1b[0m";
constexpr std::string_view upper_half = "\u2580";  // the lower half shows the background

/// Two rows of pixels as one line. Colour codes are written only where the colour changes.
std::string half_block_line(const Image& image, std::int64_t y) {
  const bool has_lower = y + 1 < image.height;
  std::optional<Colour> upper;
  std::optional<Colour> lower;
  std::string line;
  for (std::int64_t x = 0; x < image.width; ++x) {
    const Colour above = image.at(x, y);
    if (upper != above) {
      line += fmt::format("\x1b[38;2;{};{};{}m", above.red, above.green, above.blue);
      upper = above;
    }
    if (has_lower && lower != image.at(x, y + 1)) {
      lower = image.at(x, y + 1);
      line += fmt::format("\x1b[48;2;{};{};{}m", lower->red, lower->green, lower->blue);
    }
    line += upper_half;
  }
  return line.append(reset) + '\n';
}

/// From `.` to `#` by brightness, one character for each of the eight colours.
char character_of(Colour colour) {
  constexpr std::string_view steps = ".:-=+*%#";
  const int brightness = 299 * colour.red + 587 * colour.green + 114 * colour.blue;
  constexpr int brightest = 1000 * 255;
  const auto last = static_cast<int>(steps.size()) - 1;
  return steps[static_cast<std::size_t>((brightness * last + brightest / 2) / brightest)];
}

std::string plain_line(const Image& image, std::int64_t y) {
  constexpr std::int64_t columns = 80;
  const std::size_t repeats = 2 * image.width <= columns ? 2 : 1;
  std::string line;
  for (std::int64_t x = 0; x < image.width; ++x) {
    line.append(repeats, character_of(image.at(x, y)));
  }
  return line + '\n';
}

// ---------------------------------------------------------------------------------------------
// Animation

/// The image scaled down to at most `columns` by `lines` half-block characters. Keeps the aspect
/// ratio. Empty if the terminal is too small to show anything.
std::optional<Image> fitted(const Image& image, std::size_t columns, std::size_t lines) {
  constexpr std::size_t least = 4;
  if (columns < least || lines < least / 2) return std::nullopt;
  const auto widest = static_cast<std::int64_t>(columns);
  const auto highest = static_cast<std::int64_t>(2 * lines);
  if (image.width <= widest && image.height <= highest) return image;
  const double scale = std::min(static_cast<double>(widest) / static_cast<double>(image.width),
                                static_cast<double>(highest) / static_cast<double>(image.height));
  const auto scaled = [scale](std::int64_t side, std::int64_t max) {
    const auto wanted = static_cast<std::int64_t>(scale * static_cast<double>(side));
    return std::clamp<std::int64_t>(wanted, 1, max);
  };
  return reduced(image, scaled(image.width, widest), scaled(image.height, highest));
}

bool wants_no_colour() {
  const char* setting = std::getenv("NO_COLOR");
  return setting != nullptr && *setting != '\0';
}

}  // namespace

std::string terminal_text(const Image& image, TerminalStyle style) {
  check_image("terminal_text", image);
  const bool coloured = style == TerminalStyle::colour;
  std::string text;
  for (std::int64_t y = 0; y < image.height; y += coloured ? 2 : 1) {
    text += coloured ? half_block_line(image, y) : plain_line(image, y);
  }
  return text;
}

Animation::Animation(std::FILE* to) : to_(to), live_(is_terminal(to) && !wants_no_colour()) {}

Animation::~Animation() {
  if (line_open_) std::fputc('\n', to_);
}

void Animation::show(const Image& image, const std::string& caption) {
  if (!live_) return;
  check_image("animation", image);
  // A line that fills the last column, or an image taller than the screen, could not be redrawn.
  const auto [columns, rows] = terminal_size(to_);
  const std::optional<Image> drawn = fitted(image, columns - 1, rows - 1);

  std::string frame = "\x1b[?25l\r";
  if (lines_ > 0) frame += fmt::format("\x1b[{}A", lines_);
  lines_ = 0;
  // The remains of a larger frame are erased after the new one is drawn, to avoid flicker.
  for (const char c : drawn ? terminal_text(*drawn, TerminalStyle::colour) : "") {
    if (c == '\n') {
      frame += "\x1b[K";
      ++lines_;
    }
    frame += c;
  }
  frame += utf8_prefix(printable(caption), columns - 1);
  frame += "\x1b[J\x1b[?25h";
  std::fwrite(frame.data(), 1, frame.size(), to_);
  std::fflush(to_);
  line_open_ = true;
}

void Animation::finish(const Image& image, const std::string& caption) {
  if (live_) {
    show(image, caption);
    std::fputc('\n', to_);
  } else {
    fmt::print(to_, "{}", terminal_text(image, TerminalStyle::plain));
    if (!caption.empty()) fmt::print(to_, "{}\n", printable(caption));
  }
  std::fflush(to_);
  lines_ = 0;
  line_open_ = false;
}

}  // namespace boolgrad::picture
