// A progress bar for long computations.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace boolgrad {

/// Reports the progress of a long computation: a line redrawn in place on a terminal, a plain line
/// every few seconds elsewhere, nothing when quiet.
class Progress {
 public:
  /// `total` items (named by `unit`, for instance `steps`), of which `done` are already completed.
  Progress(std::FILE* to, bool quiet, std::string unit, std::int64_t total, std::int64_t done = 0);
  /// Leaves the last line on the screen.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Whether `show` would print now. Lets the caller skip formatting the text.
  bool due() const;

  /// Prints a bar, `text`, the rate and the time left, if a line is due or everything is done. A
  /// terminal that is too narrow for this shows a bar, `short_text` and the time left.
  void show(std::int64_t done, const std::string& text, const std::string& short_text = "");

  /// The line that `show` prints, without the bar, for display elsewhere. Counts as shown.
  std::string line(std::int64_t done, const std::string& text);

 private:
  enum class Style : std::uint8_t { none, lines, redrawn };
  using Clock = std::chrono::steady_clock;

  /// The number of items per second, and the time left.
  struct Rate {
    double per_second;
    std::string time_left;
  };
  Rate rate(std::int64_t done) const;

  std::FILE* to_;
  std::string unit_;
  Style style_;
  std::int64_t total_;
  std::int64_t done_at_start_;
  Clock::time_point start_;
  Clock::time_point shown_;
  bool line_open_ = false;
};

/// Formats a duration: `0:07`, `12:30`, `3:05:00`.
std::string clock_text(double seconds);

/// A bar and a line of at most `columns` characters: the bar takes what `line` leaves, at most 20
/// characters. If it would get less than 5, `short_line` replaces the line, and after that, nothing
/// is left of the bar.
std::string fitted_line(const std::string& line, const std::string& short_line, double share,
                        std::size_t columns);

/// A bar of `width` characters, the fraction `share` of them filled.
std::string bar_text(double share, std::size_t width);

}  // namespace boolgrad
