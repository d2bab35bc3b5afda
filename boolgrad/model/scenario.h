// Robustness tests of trained automata: larger grids, asynchronous updates, damage.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "boolgrad/automata/grid_errors.h"
#include "boolgrad/automata/rule.h"
#include "boolgrad/data/cell_rule.h"
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
/// continued, a picture is centred. Throws for rules, which have no target state, and if the
/// picture does not fit.
Tensor target_for(const ModelSpec& spec, std::int64_t height, std::int64_t width);

/// A seed for starts that training did not use.
std::uint64_t fresh_seed(const ModelSpec& spec);

/// Starts of the kind given by `spec`, on a grid of any size.
Tensor starts_for(const ModelSpec& spec, const automata::Rule& rule, std::int64_t grids,
                  std::int64_t height, std::int64_t width, std::uint64_t seed);

/// Fresh starts, and for pictures also four times the steps; grids two and four times as large; a
/// fire rate of 0.6; a square that stays dead; one that is dead for the first half of the steps;
/// and one that is reset at a random position after every step. For pictures also squares that are
/// cleared once, when the picture has grown. On larger grids, the number of steps grows as well if
/// starts are random.
std::vector<Scenario> scenarios_of(const ModelSpec& spec);

/// Runs a scenario from `grids` fresh starts. Cells that are held at 0 do not count.
automata::GridErrors play(const ModelSpec& spec, const automata::Rule& rule,
                          const Scenario& scenario, std::int64_t grids);

/// How long a pattern lasts.
struct Stay {
  std::int64_t right = 0;  ///< steps after its growth in which it was right without a break
  std::int64_t steps = 0;  ///< steps that were run after its growth
};

/// Grows a pattern for the steps of its training and runs on until it is wrong, at most for 16
/// times as many steps. Starts are those of `fresh_seed`.
Stay stay_of(const ModelSpec& spec, const automata::Rule& rule, const Device& device = {});

/// Number of bits that differ from a rule, summed over `steps` steps from a torus of random states.
/// Where only some neighbourhoods are known, each step is compared with the rule applied to the
/// state before it, in the cells whose next state is known.
std::int64_t differences_from_rule(const automata::Rule& rule, const data::CellRule& expected,
                                   std::int64_t height, std::int64_t width, std::int64_t steps,
                                   std::uint64_t seed, const Device& device = {});

}  // namespace boolgrad
