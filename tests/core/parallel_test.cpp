#include "boolgrad/core/parallel.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/messages.h"

namespace boolgrad {
namespace {

class ThreadCount : public testing::Test {
 protected:
  void TearDown() override { set_thread_count(before_); }
  int before_ = thread_count();
};

TEST_F(ThreadCount, EveryTaskRunsOnce) {
  for (const int threads : {1, 2, 7}) {
    set_thread_count(threads);
    EXPECT_EQ(thread_count(), threads);
    std::vector<int> calls(1000, 0);
    parallel_for(calls.size(), [&](std::size_t i) { ++calls[i]; });
    EXPECT_EQ(calls, std::vector<int>(1000, 1));
  }
}

TEST_F(ThreadCount, NoTaskIsFine) {
  parallel_for(0, [](std::size_t) { FAIL() << "called"; });
  SUCCEED();
}

TEST_F(ThreadCount, AnExceptionReachesTheCaller) {
  for (const int threads : {1, 7}) {
    set_thread_count(threads);
    EXPECT_THROW(parallel_for(100,
                              [](std::size_t i) {
                                if (i == 42) throw std::runtime_error("task 42");
                              }),
                 std::runtime_error);
  }
}

TEST_F(ThreadCount, LoopsMayNest) {
  set_thread_count(2);
  std::vector<std::vector<int>> calls(10, std::vector<int>(10, 0));
  parallel_for(10,
               [&](std::size_t i) { parallel_for(10, [&, i](std::size_t j) { ++calls[i][j]; }); });
  EXPECT_EQ(calls, std::vector<std::vector<int>>(10, std::vector<int>(10, 1)));
}

TEST_F(ThreadCount, RefusesZero) {
  expect_error([] { set_thread_count(0); },
               "[set_thread_count] expected at least 1 thread, received 0");
}

TEST_F(ThreadCount, AForkedProcessComputesAlone) {
  set_thread_count(2);
  std::atomic<int> calls = 0;
  parallel_for(100, [&](std::size_t) { ++calls; });  // the threads of the parent exist
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    calls = 0;
    alarm(60);  // ends a child that waits for threads it does not have
    parallel_for(1000, [&](std::size_t) { ++calls; });
    set_thread_count(3);
    _exit(calls == 1000 && thread_count() == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(thread_count(), 2) << "in the parent";
}

}  // namespace
}  // namespace boolgrad
