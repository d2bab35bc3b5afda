// What the literature asks of a trained automaton: larger grids, chance, damage.
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

/// What `spec` wants on a grid of another size: a checkerboard is continued, a picture lies
/// in the middle with nothing around it. uint8 [channels, height, width]. Throws for life, which
/// has no state to reach, and for a grid smaller than the picture.
Tensor target_for(const ModelSpec& spec, std::int64_t height, std::int64_t width);

/// A seed for starts that no step of the experiment's training saw.
std::uint64_t fresh_seed(const ModelSpec& spec);

/// Starts as `spec` has them, on a grid of any size.
Tensor starts_for(const ModelSpec& spec, const Rule& rule, std::int64_t grids, std::int64_t height,
                  std::int64_t width, std::uint64_t seed);

/// Fresh starts, two and four times larger grids (with as many times more steps where order has to
/// travel through noise, with as many where a picture grows out of a cell), cells that fire in
/// six steps out of ten, a square that stays dead, one that is dead until it is lifted, and one
/// that is set to 0 somewhere else after every step.
std::vector<Scenario> scenarios_of(const ModelSpec& spec);

/// Plays a scenario from `grids` fresh starts. Cells that are being held at 0 do not count.
GridErrors play(const ModelSpec& spec, const Rule& rule, const Scenario& scenario,
                std::int64_t grids);

/// In how many cells `steps` steps from a random torus differ from Conway's rule, all steps
/// together.
std::int64_t differences_from_life(const Rule& rule, std::int64_t height, std::int64_t width,
                                   std::int64_t steps, std::uint64_t seed,
                                   const Device& device = {});

}  // namespace boolgrad
