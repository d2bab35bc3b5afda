// Parallel loops whose result does not depend on how many threads run them.
//
// The caller cuts the work into tasks by its shape alone, never by the number of threads, and each
// task writes its own memory. A sum over tasks is taken afterwards in task order. That is all it
// takes for 1, 2 and 7 threads to give the same bits.
#pragma once

#include <cstddef>
#include <functional>

namespace boolgrad {

/// Threads that parallel loops use. Starts as the number of hardware threads.
int thread_count();

/// Changes the number of threads, also beyond the number of cores. Not to be called from inside a
/// parallel loop. Throws when `threads` is below 1.
void set_thread_count(int threads);

/// Calls `task(i)` for every i in [0, tasks), in any order and on any thread. The first exception
/// that a task throws is rethrown here.
void parallel_for(std::size_t tasks, const std::function<void(std::size_t)>& task);

/// Number of tasks of at most `grain` items that cover `items`.
constexpr std::size_t task_count(std::size_t items, std::size_t grain) {
  return (items + grain - 1) / grain;
}

}  // namespace boolgrad
