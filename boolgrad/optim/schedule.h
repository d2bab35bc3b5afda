// Learning rate schedules.
#pragma once

#include <cstdint>
#include <string_view>

namespace boolgrad {

/// The shape of a learning rate schedule after the warm-up.
enum class ScheduleKind : std::uint8_t { constant, cosine, exponential };

/// The name of a schedule.
std::string_view to_string(ScheduleKind kind);
/// Parses a schedule name. Throws for an unknown name; the message starts with `where`.
ScheduleKind schedule_of(std::string_view where, std::string_view name);

/// A learning rate schedule.
struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;  ///< shape after the warm-up
  double rate = 0.01;                          ///< peak learning rate
  std::int64_t warm_up = 0;   ///< steps of linear warm-up from 0 (exclusive) to `rate`
  std::int64_t steps = 1;     ///< steps of the whole run, warm-up included
  double final_share = 0.01;  ///< cosine and exponential: last rate as a fraction of `rate`

  /// The learning rate of step `step`, counted from 0.
  double at(std::int64_t step) const;
};

}  // namespace boolgrad
