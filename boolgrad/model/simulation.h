// A hardened rule at work: steps, cells that fire by chance, damage.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "boolgrad/automata/bit_grid.h"
#include "boolgrad/automata/rule.h"
#include "boolgrad/backend/device/device.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// Cells that are set to 0 after every step from `first` to `last`, the start being step 0.
struct Damage {
  Rectangle rectangle;
  std::int64_t first = 0;
  std::int64_t last = 0;
};

struct SimulationOptions {
  double fire_rate = 1;
  std::uint64_t seed = 1;  ///< of who fires and of where resets strike
  std::vector<Damage> damage = {};
  /// Sides of a square that is set to 0 somewhere else after every step; 0 for none.
  std::int64_t reset = 0;
  Device device = {};  ///< or another; the states are the same
};

/// Refuses a rectangle that is not inside of a grid.
void check_rectangle(const Rectangle& rectangle, std::int64_t height, std::int64_t width);

class Simulation {
 public:
  /// From `starts` [channels, grids, height, width].
  Simulation(const Rule& rule, const Tensor& starts, const SimulationOptions& options);
  ~Simulation();

  /// A device may still be at work when this returns.
  void step(std::int64_t count = 1);

  /// Returns when all steps have been taken.
  void wait() const;

  std::int64_t steps() const { return steps_; }
  /// Fetched from the device where it changed since it was last asked for.
  const BitGrid& state() const;
  /// What was set to 0 after the last step.
  const std::vector<Rectangle>& struck() const { return struck_; }

  /// Where the grid lies and is stepped.
  class Place;

 private:
  void strike();
  /// Steps, at most so many, until damage may strike after the last of them.
  std::int64_t quiet_steps(std::int64_t most) const;

  SimulationOptions options_;
  std::unique_ptr<Place> place_;
  std::int64_t height_;
  std::int64_t width_;
  std::int64_t steps_ = 0;
  std::vector<Rectangle> struck_;
};

}  // namespace boolgrad
