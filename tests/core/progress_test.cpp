#include "boolgrad/core/progress.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

namespace boolgrad {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::string content(std::FILE* file) {
  std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  EXPECT_EQ(std::fread(text.data(), 1, text.size(), file), text.size());
  return text;
}

TEST(Progress, WritesTimesLikeAClock) {
  EXPECT_EQ(clock_text(0), "0:00");
  EXPECT_EQ(clock_text(6.2), "0:07");
  EXPECT_EQ(clock_text(750), "12:30");
  EXPECT_EQ(clock_text(11100), "3:05:00");
  EXPECT_EQ(clock_text(-1), "0:00");
  EXPECT_EQ(clock_text(1e300), "99:00:00");
}

TEST(Progress, FormatsItsLineForDisplayElsewhere) {
  const File file(std::tmpfile(), std::fclose);
  Progress progress(file.get(), false, "steps", 100, 100);
  EXPECT_EQ(progress.line(100, "all"), "all 0 steps/s 0:00 left");
  EXPECT_FALSE(progress.due());
  EXPECT_EQ(std::ftell(file.get()), 0) << "nothing was printed";
}

TEST(Progress, DrawsABar) {
  EXPECT_EQ(bar_text(0, 4), "[....] ");
  EXPECT_EQ(bar_text(0.5, 4), "[##..] ");
  EXPECT_EQ(bar_text(1, 4), "[####] ");
  EXPECT_EQ(bar_text(7, 4), "[####] ");
}

TEST(Progress, FitsTheWidthOfATerminal) {
  const std::string line =
      "epoch 3/10 step 300/1000 loss 0.0123 accuracy soft 99.1% hard 98.5% 9 "
      "steps/s 0:07 left";
  const std::string narrow = "300/1000 loss 0.012 accuracy 98.5% 0:07 left";
  EXPECT_EQ(fitted_line(line, narrow, 0.5, 119), "[##########..........] " + line);
  EXPECT_EQ(fitted_line(line, narrow, 0.5, 79), "[##########..........] " + narrow);
  EXPECT_EQ(fitted_line(line, narrow, 0.5, 55), "[####....] " + narrow);
  EXPECT_EQ(fitted_line(line, narrow, 0.5, 44), narrow);
  EXPECT_EQ(fitted_line(line, narrow, 0.5, 8), "300/1000");
}

// A file is not a terminal: a short computation prints nothing to it, a quiet one never does.
TEST(Progress, PrintsNothingToAFileAtFirst) {
  for (const bool quiet : {false, true}) {
    const File file(std::tmpfile(), std::fclose);
    ASSERT_NE(file, nullptr);
    {
      Progress progress(file.get(), quiet, "steps", 10);
      for (int step = 1; step <= 10; ++step) progress.show(step, "text");
      EXPECT_FALSE(progress.due());
    }
    EXPECT_EQ(content(file.get()), "");
  }
}

}  // namespace
}  // namespace boolgrad
