#include "boolgrad/optim/schedule.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/messages.h"

namespace boolgrad {
namespace {

TEST(Schedule, ConstantStaysAfterWarmingUp) {
  const Schedule schedule{.rate = 0.5, .warm_up = 4, .steps = 100};
  EXPECT_DOUBLE_EQ(schedule.at(0), 0.125);
  EXPECT_DOUBLE_EQ(schedule.at(1), 0.25);
  EXPECT_DOUBLE_EQ(schedule.at(3), 0.5);
  EXPECT_DOUBLE_EQ(schedule.at(4), 0.5);
  EXPECT_DOUBLE_EQ(schedule.at(99), 0.5);
}

TEST(Schedule, CosineFallsFromTheRateToItsFinalShare) {
  const Schedule schedule{
      .kind = ScheduleKind::cosine, .rate = 2, .warm_up = 10, .steps = 111, .final_share = 0.25};
  EXPECT_DOUBLE_EQ(schedule.at(9), 2);
  EXPECT_DOUBLE_EQ(schedule.at(10), 2);
  EXPECT_DOUBLE_EQ(schedule.at(60), 1.25) << "half-way in time is half-way in value";
  EXPECT_DOUBLE_EQ(schedule.at(110), 0.5);
  EXPECT_DOUBLE_EQ(schedule.at(1000), 0.5) << "a longer run stays where the schedule ended";
}

TEST(Schedule, CosineMayEndAtZero) {
  const Schedule schedule{.kind = ScheduleKind::cosine, .rate = 1, .steps = 11, .final_share = 0};
  EXPECT_DOUBLE_EQ(schedule.at(10), 0);
}

TEST(Schedule, ExponentialFallsByTheSameFactorEveryStep) {
  const Schedule schedule{
      .kind = ScheduleKind::exponential, .rate = 1, .steps = 5, .final_share = 1.0 / 16};
  EXPECT_DOUBLE_EQ(schedule.at(0), 1);
  EXPECT_DOUBLE_EQ(schedule.at(1), 0.5);
  EXPECT_DOUBLE_EQ(schedule.at(2), 0.25);
  EXPECT_DOUBLE_EQ(schedule.at(4), 1.0 / 16);
}

TEST(Schedule, ShortRunsKeepTheRate) {
  for (const ScheduleKind kind : {ScheduleKind::cosine, ScheduleKind::exponential}) {
    EXPECT_DOUBLE_EQ((Schedule{.kind = kind, .rate = 3, .steps = 1}.at(0)), 3);
    EXPECT_DOUBLE_EQ((Schedule{.kind = kind, .rate = 3, .warm_up = 5, .steps = 5}.at(4)), 3);
  }
}

TEST(Schedule, NamesRoundTrip) {
  for (const ScheduleKind kind :
       {ScheduleKind::constant, ScheduleKind::cosine, ScheduleKind::exponential}) {
    EXPECT_EQ(schedule_of("test", to_string(kind)), kind);
  }
  expect_error([] { schedule_of("experiment", "cosin"); },
               "[experiment] expected a schedule (constant, cosine or exponential), received "
               "'cosin'");
}

TEST(Schedule, RejectsInvalidArguments) {
  const auto at_start = [](Schedule schedule) { return [schedule] { schedule.at(0); }; };
  expect_error(at_start({.rate = std::numeric_limits<double>::quiet_NaN()}),
               "[schedule] expected a positive learning rate, received nan");
  expect_error(at_start({.rate = 0}), "[schedule] expected a positive learning rate, received 0");
  expect_error(at_start({.rate = -0.1}),
               "[schedule] expected a positive learning rate, received -0.1");
  expect_error(at_start({.rate = std::numeric_limits<double>::infinity()}),
               "[schedule] expected a positive learning rate, received inf");
  expect_error(at_start({.warm_up = -1}),
               "[schedule] expected a warm-up of at least 0 steps, received -1");
  expect_error(at_start({.steps = 0}), "[schedule] expected at least 1 step, received 0");
  expect_error(at_start({.final_share = 1.5}),
               "[schedule] expected a final share between 0 and 1, received 1.5");
  expect_error(at_start({.kind = ScheduleKind::exponential, .final_share = 0}),
               "[schedule] expected a positive final share for exponential, received 0");
  expect_error([] { Schedule{}.at(-1); }, "[schedule] expected a step of at least 0, received -1");
}

}  // namespace
}  // namespace boolgrad
