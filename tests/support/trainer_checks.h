// Properties that every training run has.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "boolgrad/core/parallel.h"
#include "boolgrad/train/search/trainer.h"
#include "tests/support/scratch.h"
#include "tests/support/tensor_files.h"

namespace boolgrad {

inline void take(train::Trainer& trainer, int steps) {
  for (int i = 0; i < steps; ++i) ASSERT_TRUE(trainer.step().finite);
}

/// Expects a run of `steps` steps that is stopped, saved and restored to end with the same bits.
inline void expect_resumable(const train::Experiment& experiment, int steps,
                             std::initializer_list<int> stops, const Device& device = {}) {
  train::Trainer straight(experiment, device);
  take(straight, steps);
  for (const int stop : stops) {
    const testing_support::ScratchFolder folder;
    {
      train::Trainer first(experiment, device);
      take(first, stop);
      save_safetensors(folder / "state.safetensors", first.state());
    }
    train::Trainer second(experiment, device);
    second.restore(load_safetensors(folder / "state.safetensors"), "state");
    EXPECT_EQ(second.steps(), stop);
    take(second, steps - stop);
    expect_same(second.state(), straight.state());
  }
}

/// Expects the same bits from 1, 2 and 7 threads.
inline void expect_same_on_any_threads(const train::Experiment& experiment, int steps) {
  const int before = thread_count();
  std::vector<TensorFile> states;
  for (const int threads : {1, 2, 7}) {
    set_thread_count(threads);
    train::Trainer trainer(experiment);
    take(trainer, steps);
    states.push_back(trainer.state());
  }
  set_thread_count(before);
  expect_same(states[0], states[1]);
  expect_same(states[0], states[2]);
}

}  // namespace boolgrad
