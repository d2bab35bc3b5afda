// Learning rates over the steps of a run.
#pragma once

#include <cstdint>
#include <string_view>

namespace boolgrad {

enum class ScheduleKind : std::uint8_t { constant, cosine, exponential };

std::string_view to_string(ScheduleKind kind);
ScheduleKind schedule_of(std::string_view where, std::string_view name);

struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  double rate = 0.01;
  /// Steps over which the rate rises linearly from 0 (exclusive) to `rate` before anything else.
  std::int64_t warm_up = 0;
  /// Steps of the whole run; cosine and exponential end at `final_share * rate` with the last.
  std::int64_t steps = 1;
  double final_share = 0.01;

  /// The rate of step `step`, counted from 0.
  double at(std::int64_t step) const;
};

}  // namespace boolgrad
