// Robustness tests of trained automata: larger grids, asynchronous updates, damage.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "boolgrad/automata/grid_errors.h"
#include "boolgrad/automata/rule.h"
#include "boolgrad/model/simulation.h"
#include "boolgrad/model/spec.h"

namespace boolgrad {

struct Scenario {
  std::string name;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t steps = 0;
  SimulationOptions options = {};
};

/// The target on a grid of another size, uint8 [channels, height, width]: a checkerboard is
/// continued, a picture is centred. Throws for life, which has no target state, and if the picture
/// does not fit.
Tensor target_for(const ModelSpec& spec, std::int64_t height, std::int64_t width);

/// A seed for starts that training did not use.
std::uint64_t fresh_seed(const ModelSpec& spec);

/// Starts of the kind given by `spec`, on a grid of any size.
Tensor starts_for(const ModelSpec& spec, const automata::Rule& rule, std::int64_t grids,
                  std::int64_t height, std::int64_t width, std::uint64_t seed);

/// Fresh starts; grids two and four times as large; a fire rate of 0.6; a square that stays dead;
/// one that is dead for the first half of the steps; and one that is reset at a random position
/// after every step. On larger grids, the number of steps grows as well if starts are random.
std::vector<Scenario> scenarios_of(const ModelSpec& spec);

/// Runs a scenario from `grids` fresh starts. Cells that are held at 0 do not count.
automata::GridErrors play(const ModelSpec& spec, const automata::Rule& rule,
                          const Scenario& scenario, std::int64_t grids);

/// Number of cells that differ from Conway's rule, summed over `steps` steps from a random torus.
std::int64_t differences_from_life(const automata::Rule& rule, std::int64_t height,
                                   std::int64_t width, std::int64_t steps, std::uint64_t seed,
                                   const Device& device = {});

}  // namespace boolgrad
