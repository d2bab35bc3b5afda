// Parallel loops whose results do not depend on the number of threads.
//
// The caller splits the work into tasks by shape, never by the number of threads. Each task writes
// its own memory. Sums over tasks are taken afterwards, in task order. Any number of threads then
// gives the same bits.
#pragma once

#include <cstddef>
#include <functional>

namespace boolgrad {

/// The number of threads that parallel loops use. The default is the number of hardware threads. A
/// forked child process, which has no threads of its parent, uses one.
int thread_count();

/// Sets the number of threads, which may exceed the number of cores. Must not be called inside a
/// parallel loop. Throws if `threads` is below 1.
void set_thread_count(int threads);

/// Calls `task(i)` for every i in [0, tasks), in any order and on any thread. Rethrows the first
/// exception that a task throws.
void parallel_for(std::size_t tasks, const std::function<void(std::size_t)>& task);

/// The number of tasks of at most `grain` items needed to cover `items`.
constexpr std::size_t task_count(std::size_t items, std::size_t grain) {
  return (items + grain - 1) / grain;
}

}  // namespace boolgrad
