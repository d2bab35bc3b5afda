#include "boolgrad/core/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "boolgrad/core/tty.h"

namespace boolgrad {
namespace {

using namespace std::chrono_literals;

constexpr auto between_redraws = 100ms;
constexpr auto between_lines = 5s;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::string clock_text(double seconds) {
  constexpr double longest = 99 * 3600.0;
  const auto whole = static_cast<std::int64_t>(std::ceil(std::clamp(seconds, 0.0, longest)));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string bar_text(double share, std::size_t width) {
  const auto full =
      static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(width));
  return fmt::format("[{:#<{}}{:.<{}}] ", "", full, "", width - full);
}

Progress::Progress(std::FILE* to, bool quiet, std::string unit, std::int64_t total,
                   std::int64_t done)
    : to_(to),
      unit_(std::move(unit)),
      style_(quiet             ? Style::none
             : is_terminal(to) ? Style::redrawn
                               : Style::lines),
      total_(std::max<std::int64_t>(total, 1)),
      done_at_start_(done),
      start_(Clock::now()),
      // The first redraw is due at once, the first line after a while.
      shown_(style_ == Style::redrawn ? start_ - between_redraws : start_) {}

Progress::~Progress() {
  if (line_open_) std::fputc('\n', to_);
}

bool Progress::due() const {
  switch (style_) {
    case Style::none: return false;
    case Style::lines: return Clock::now() - shown_ >= between_lines;
    case Style::redrawn: return Clock::now() - shown_ >= between_redraws;
  }
  return false;
}

void Progress::show(std::int64_t done, const std::string& text, const std::string& short_text) {
  const bool last_redraw = style_ == Style::redrawn && done >= total_;
  if (!due() && !last_redraw) return;
  const std::string shown = line(done, text);
  if (style_ == Style::lines) {
    fmt::print(to_, "{}\n", shown);
  } else {
    const std::string narrow =
        short_text.empty() ? shown : fmt::format("{} {} left", short_text, rate(done).time_left);
    const double share = static_cast<double>(done) / static_cast<double>(total_);
    // A line that wraps could not be redrawn.
    fmt::print(to_, "\r{}\x1b[K",
               fitted_line(shown, narrow, share, terminal_size(to_).columns - 1));
    line_open_ = true;
  }
  std::fflush(to_);
}

std::string Progress::line(std::int64_t done, const std::string& text) {
  shown_ = Clock::now();
  const Rate now = rate(done);
  return fmt::format("{} {:.0f} {}/s {} left", text, now.per_second, unit_, now.time_left);
}

Progress::Rate Progress::rate(std::int64_t done) const {
  const double per_second =
      static_cast<double>(done - done_at_start_) / std::max(seconds_since(start_), 1e-3);
  const double left = per_second > 0 ? static_cast<double>(total_ - done) / per_second : 0;
  return {per_second, clock_text(left)};
}

std::string fitted_line(const std::string& line, const std::string& short_line, double share,
                        std::size_t columns) {
  constexpr std::size_t widest_bar = 20;
  constexpr std::size_t narrowest_bar = 5;
  const std::size_t frame = bar_text(0, 0).size();
  for (const std::string& text : {line, short_line}) {
    if (text.size() + frame + narrowest_bar > columns) continue;
    return bar_text(share, std::min(columns - text.size() - frame, widest_bar)) + text;
  }
  return short_line.substr(0, columns);
}

}  // namespace boolgrad
