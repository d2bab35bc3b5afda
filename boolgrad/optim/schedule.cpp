#include "boolgrad/optim/schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"

namespace boolgrad {
namespace {

constexpr std::array<std::string_view, 3> names = {"constant", "cosine", "exponential"};

void check(const Schedule& schedule) {
  if (!(schedule.rate > 0 && std::isfinite(schedule.rate))) {
    fail("schedule", "expected a positive learning rate, received {}", schedule.rate);
  }
  if (!(schedule.final_share >= 0 && schedule.final_share <= 1)) {
    fail("schedule", "expected a final share between 0 and 1, received {}", schedule.final_share);
  }
  if (schedule.kind == ScheduleKind::exponential && schedule.final_share == 0) {
    fail("schedule", "expected a positive final share for exponential, received 0");
  }
  if (schedule.steps < 1) {
    fail("schedule", "expected at least 1 step, received {}", schedule.steps);
  }
  if (schedule.warm_up < 0) {
    fail("schedule", "expected a warm-up of at least 0 steps, received {}", schedule.warm_up);
  }
}

/// How far `step` is between the first step after the warm-up (0) and the last of the run (1).
double progress(const Schedule& schedule, std::int64_t step) {
  const std::int64_t length = schedule.steps - 1 - schedule.warm_up;
  if (length <= 0) return 0;
  return std::min(1.0, static_cast<double>(step - schedule.warm_up) / static_cast<double>(length));
}

}  // namespace

std::string_view to_string(ScheduleKind kind) { return names[static_cast<std::size_t>(kind)]; }

ScheduleKind schedule_of(std::string_view where, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    fail(where, "expected a schedule (constant, cosine or exponential), received '{}'", name);
  }
  return static_cast<ScheduleKind>(found - names.begin());
}

double Schedule::at(std::int64_t step) const {
  check(*this);
  if (step < 0) fail("schedule", "expected a step of at least 0, received {}", step);
  if (step < warm_up) return rate * static_cast<double>(step + 1) / static_cast<double>(warm_up);
  const double done = progress(*this, step);
  switch (kind) {
    case ScheduleKind::constant: return rate;
    case ScheduleKind::cosine: {
      const double falling = 0.5 * (1 + std::cos(std::numbers::pi * done));
      return rate * (final_share + (1 - final_share) * falling);
    }
    case ScheduleKind::exponential: return rate * std::pow(final_share, done);
  }
  fail("schedule", "unknown schedule {}", static_cast<int>(kind));
}

}  // namespace boolgrad
