#include "boolgrad/core/parallel.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "boolgrad/core/fail.h"

namespace boolgrad {
namespace {

// An arena admits `threads` threads. The global limit must be raised as well: otherwise TBB
// silently stops at the number of cores.
struct Pool {
  explicit Pool(int threads)
      : threads(threads),
        limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)),
        arena(threads) {}
  int threads;
  tbb::global_control limit;
  tbb::task_arena arena;
};

// A child process that was forked has none of the parent's threads.
std::atomic<bool> is_forked_child = false;

std::unique_ptr<Pool>& pool_slot() {
  static auto* slot = [] {
    pthread_atfork(nullptr, nullptr, [] { is_forked_child = true; });
    return new std::unique_ptr<Pool>(std::make_unique<Pool>(tbb::info::default_concurrency()));
  }();
  return *slot;
}

}  // namespace

int thread_count() { return is_forked_child ? 1 : pool_slot()->threads; }

void set_thread_count(int threads) {
  if (threads < 1) fail("set_thread_count", "expected at least 1 thread, received {}", threads);
  if (is_forked_child || threads == thread_count()) return;
  pool_slot() = std::make_unique<Pool>(threads);
}

#if defined(__SANITIZE_THREAD__)

// oneTBB is not instrumented: the sanitizer cannot see its synchronisation and would report false
// races. Plain threads run the tasks here, so that only our own code is checked.
void parallel_for(std::size_t tasks, const std::function<void(std::size_t)>& task) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr first_error;
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks; i = next++) {
      try {
        task(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first_error) first_error = std::current_exception();
        next = tasks;
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    const auto wanted = std::min(tasks, static_cast<std::size_t>(thread_count()));
    for (std::size_t i = 1; i < wanted; ++i) threads.emplace_back(work);
    work();
  }
  if (first_error) std::rethrow_exception(first_error);
}

#else

void parallel_for(std::size_t tasks, const std::function<void(std::size_t)>& task) {
  Pool& pool = *pool_slot();
  if (tasks <= 1 || pool.threads == 1 || is_forked_child) {
    for (std::size_t i = 0; i < tasks; ++i) task(i);
    return;
  }
  // Isolated: a thread that waits for an inner loop must not start a task of an outer loop, because
  // their thread-local state differs (for instance whether the tape records).
  pool.arena.execute([&] {
    tbb::this_task_arena::isolate(
        [&] { tbb::parallel_for(std::size_t{0}, tasks, task, tbb::simple_partitioner()); });
  });
}

#endif

}  // namespace boolgrad
