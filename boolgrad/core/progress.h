// A progress bar for whoever waits.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace boolgrad {

/// Shows how far a long computation is: one line redrawn in place on a terminal, a plain line now
/// and then elsewhere, nothing when quiet.
class Progress {
 public:
  /// `total` of something (`unit` says what: `steps`) are to be done, `done` of them already are.
  Progress(std::FILE* to, bool quiet, std::string unit, std::int64_t total, std::int64_t done = 0);
  /// Leaves the last line standing.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Whether `show` would print now. Lets the caller skip making the text.
  bool due() const;

  /// Prints a bar, `text`, units a second and the time left, if it is due or all are done.
  void show(std::int64_t done, const std::string& text);

  /// The line that `show` prints, without the bar, for whoever shows it elsewhere. Counts as shown.
  std::string line(std::int64_t done, const std::string& text);

 private:
  enum class Style : std::uint8_t { none, lines, redrawn };
  using Clock = std::chrono::steady_clock;

  void redraw(const std::string& line, double share);

  std::FILE* to_;
  std::string unit_;
  Style style_;
  std::int64_t total_;
  std::int64_t done_at_start_;
  Clock::time_point start_;
  Clock::time_point shown_;
  bool line_open_ = false;
};

/// `0:07`, `12:30`, `3:05:00`.
std::string clock_text(double seconds);

/// A bar of `width` places, `share` of them full.
std::string bar_text(double share, std::size_t width);

}  // namespace boolgrad
