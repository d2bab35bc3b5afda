#include "boolgrad/picture/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>  // posix_openpt and setenv are POSIX's, not C++'s
#include <sys/ioctl.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>

#include "tests/support/messages.h"
#include "tests/support/pictures.h"

namespace boolgrad::picture {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

constexpr Colour red{255, 0, 0};
constexpr Colour grey{100, 100, 100};

TEST(TerminalText, DrawsTwoRowsPerLine) {
  const Image image{2, 2, {red, red, grey, black}};
  EXPECT_EQ(terminal_text(image, TerminalStyle::colour),
            "\x1b[38;2;255;0;0m\x1b[48;2;100;100;100m\u2580\x1b[48;2;0;0;0m\u2580\x1b[0m\n");
}

TEST(TerminalText, DrawsTheLastOddRowAsUpperHalf) {
  const Image image{1, 3, {black, black, red}};
  EXPECT_EQ(terminal_text(image, TerminalStyle::colour),
            "\x1b[38;2;0;0;0m\x1b[48;2;0;0;0m\u2580\x1b[0m\n"
            "\x1b[38;2;255;0;0m\u2580\x1b[0m\n");
}

TEST(TerminalText, HasAnASCIICharacterForEachOfTheEightColours) {
  const Image image{8, 1, {eight_colours.begin(), eight_colours.end()}};
  EXPECT_EQ(terminal_text(image, TerminalStyle::plain), "..--++%%::==**##\n");
  EXPECT_EQ(terminal_text({2, 2, {white, black, black, white}}, TerminalStyle::plain),
            "##..\n..##\n");
}

TEST(TerminalText, DrawsWidePicturesNarrow) {
  EXPECT_EQ(terminal_text(filled_image(40, 1, white), TerminalStyle::plain),
            std::string(80, '#') + "\n");
  EXPECT_EQ(terminal_text(filled_image(41, 1, white), TerminalStyle::plain),
            std::string(41, '#') + "\n");
}

TEST(TerminalText, RejectsAnImageWithoutPixels) {
  expect_error([] { terminal_text({}, TerminalStyle::plain); },
               "[terminal_text] expected an image of at least 1 by 1 pixels, received 0 by 0");
}

/// Sets (or with no value unsets) an environment variable for the lifetime of the object.
class Setting {
 public:
  Setting(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* before = ::getenv(name)) before_ = before;
    set(value);
  }
  ~Setting() { set(before_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  void set(const std::optional<std::string>& value) {
    if (value) ::setenv(name_, value->c_str(), 1);
    else ::unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> before_;
};

/// A pseudo-terminal of a given size that captures its output.
class PseudoTerminal {
 public:
  PseudoTerminal(unsigned short columns, unsigned short rows)
      : reader_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    EXPECT_GE(reader_, 0);
    EXPECT_EQ(::grantpt(reader_), 0);
    EXPECT_EQ(::unlockpt(reader_), 0);
    file_.reset(std::fopen(::ptsname(reader_), "w"));
    const winsize size{.ws_row = rows, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    EXPECT_EQ(::ioctl(reader_, TIOCSWINSZ, &size), 0);
  }
  ~PseudoTerminal() { ::close(reader_); }
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;

  std::FILE* file() { return file_.get(); }

  /// The output since the last call, with plain newlines.
  std::string printed() {
    std::fflush(file());
    std::string text;
    pollfd ready{.fd = reader_, .events = POLLIN, .revents = 0};
    while (::poll(&ready, 1, 50) == 1) {
      char byte = 0;
      if (::read(reader_, &byte, 1) != 1) break;
      if (byte == '\n' && text.ends_with('\r')) text.pop_back();
      text += byte;
    }
    return text;
  }

 private:
  int reader_;
  File file_{nullptr, std::fclose};
};

class AnimationTest : public ::testing::Test {
 protected:
  Setting term_{"TERM", "xterm"};
  Setting colours_{"NO_COLOR", std::nullopt};
  Image picture_{2, 2, {white, black, black, white}};
};

/// The test image in colour, with the rest of each line erased.
const std::string drawn =
    "\x1b[38;2;255;255;255m\x1b[48;2;0;0;0m\u2580\x1b[38;2;0;0;0m\x1b[48;2;255;255;255m\u2580"
    "\x1b[0m\x1b[K\n";

TEST_F(AnimationTest, RedrawsInPlace) {
  PseudoTerminal terminal(40, 20);
  {
    Animation animation(terminal.file());
    EXPECT_TRUE(animation.live());
    animation.show(picture_, "step 1");
    EXPECT_EQ(terminal.printed(), "\x1b[?25l\r" + drawn + "step 1\x1b[J\x1b[?25h");
    animation.show(picture_, "step 2");
    EXPECT_EQ(terminal.printed(), "\x1b[?25l\r\x1b[1A" + drawn + "step 2\x1b[J\x1b[?25h");
    animation.finish(picture_, "done");
    EXPECT_EQ(terminal.printed(), "\x1b[?25l\r\x1b[1A" + drawn + "done\x1b[J\x1b[?25h\n");
  }
  EXPECT_EQ(terminal.printed(), "");
}

TEST_F(AnimationTest, LeavesTheLineWhenItIsNotFinished) {
  PseudoTerminal terminal(40, 20);
  {
    Animation animation(terminal.file());
    animation.show(picture_, "step 1");
    terminal.printed();
  }
  EXPECT_EQ(terminal.printed(), "\n");
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST_F(AnimationTest, ShrinksToTheTerminal) {
  PseudoTerminal terminal(11, 30);
  Animation animation(terminal.file());
  animation.show(filled_image(40, 20, white), "a caption that is too long");
  const std::string narrow = terminal.printed();
  EXPECT_EQ(occurrences(narrow, "\u2580"), 10U * 3U) << "10 by 5 pixels";
  EXPECT_NE(narrow.find("\na caption \x1b[J"), std::string::npos);

  PseudoTerminal low(200, 6);
  Animation(low.file()).show(filled_image(40, 20, white), "");
  EXPECT_EQ(occurrences(low.printed(), "\u2580"), 20U * 5U) << "20 by 10 pixels";
}

TEST_F(AnimationTest, OmitsTheImageInATinyTerminal) {
  PseudoTerminal terminal(4, 30);
  Animation animation(terminal.file());
  animation.show(filled_image(40, 20, white), "12345");
  EXPECT_EQ(terminal.printed(), "\x1b[?25l\r123\x1b[J\x1b[?25h");
  PseudoTerminal tiny(1, 1);
  Animation(tiny.file()).show(picture_, "12345");
  EXPECT_EQ(occurrences(tiny.printed(), "\u2580"), 0U);
}

/// The output of an animation of two frames in `file`.
void run_two_frames(std::FILE* file, const Image& picture) {
  Animation animation(file);
  EXPECT_FALSE(animation.live());
  animation.show(picture, "step 1");
  animation.finish(picture, "done");
}

TEST_F(AnimationTest, PrintsOnlyTheLastImageIfItCannotRedraw) {
  const File file(std::tmpfile(), std::fclose);
  run_two_frames(file.get(), picture_);
  std::string text(100, '\0');
  std::rewind(file.get());
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  EXPECT_EQ(text, "##..\n..##\ndone\n");
}

TEST_F(AnimationTest, HonoursNoColor) {
  PseudoTerminal terminal(40, 20);
  {
    const Setting none("NO_COLOR", "1");
    run_two_frames(terminal.file(), picture_);
    EXPECT_EQ(terminal.printed(), "##..\n..##\ndone\n");
  }
  const Setting dumb("TERM", "dumb");
  run_two_frames(terminal.file(), picture_);
  EXPECT_EQ(terminal.printed(), "##..\n..##\ndone\n");
}

}  // namespace
}  // namespace boolgrad::picture
