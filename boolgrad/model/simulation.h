// Simulation of a hardened rule, with asynchronous updates and damage.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "boolgrad/automata/bit_grid.h"
#include "boolgrad/automata/rule.h"
#include "boolgrad/core/group.h"
#include "boolgrad/options/device.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// Cells that are set to 0 after every step from `first` to `last`. Step 0 is the start.
struct Damage {
  automata::Rectangle rectangle;
  std::int64_t first = 0;
  std::int64_t last = 0;
};

struct SimulationOptions {
  double fire_rate = 1;
  std::uint64_t seed = 1;  ///< of fire masks and of the positions of resets
  std::vector<Damage> damage = {};
  /// Side of a square that is set to 0 at a random position after every step; 0 for none.
  std::int64_t reset = 0;
  Device device = {};  ///< does not change the states
  /// Ranks that share the grid, in strips of rows: on the CPU only. Does not change the states.
  Group* group = &single_process();
};

/// Throws if a rectangle is not inside the grid.
void check_rectangle(const automata::Rectangle& rectangle, std::int64_t height, std::int64_t width);

class Simulation {
 public:
  /// Starts from `starts` [channels, grids, height, width].
  Simulation(const automata::Rule& rule, const Tensor& starts, const SimulationOptions& options);
  ~Simulation();

  /// Asynchronous on devices: may return before the steps are done.
  void step(std::int64_t count = 1);

  /// Waits until all steps are done.
  void wait() const;

  std::int64_t steps() const { return steps_; }
  /// Downloads the state from the device if it has changed. With several ranks, all of them must
  /// call it.
  const automata::BitGrid& state() const;
  /// The rectangles that were set to 0 after the last step.
  const std::vector<automata::Rectangle>& damaged() const { return damaged_; }

  /// Holds the grid and takes the steps, on the host or on a device.
  class Engine;

 private:
  void apply_damage();
  /// Number of steps, at most `max`, up to the next one that damage may follow.
  std::int64_t steps_to_damage(std::int64_t max) const;

  SimulationOptions options_;
  std::unique_ptr<Engine> engine_;
  std::int64_t height_;
  std::int64_t width_;
  std::int64_t steps_ = 0;
  std::vector<automata::Rectangle> damaged_;
};

}  // namespace boolgrad
