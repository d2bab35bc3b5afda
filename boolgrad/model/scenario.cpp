#include "boolgrad/model/scenario.h"

#include <algorithm>
#include <cmath>

#include "boolgrad/automata/starts.h"
#include "boolgrad/core/error.h"
#include "boolgrad/core/random_streams.h"
#include "boolgrad/data/automaton_task.h"
#include "boolgrad/data/pattern.h"
#include "boolgrad/model/tasks.h"

namespace boolgrad {
namespace {

constexpr double chance = 0.6;     // at which cells fire
constexpr std::int64_t hole = 10;  // sides of damage

Rectangle middle(std::int64_t height, std::int64_t width, std::int64_t side) {
  return {(height - side) / 2, (width - side) / 2, side, side};
}

/// A picture in the middle of a larger grid.
Tensor centred(const Tensor& bits, std::int64_t height, std::int64_t width) {
  const Shape& shape = bits.shape();
  if (height < shape[1] || width < shape[2]) {
    fail("target", "expected a grid of at least {}x{} cells for the picture, received {}x{}",
         shape[1], shape[2], height, width);
  }
  Tensor larger = Tensor::zeros({shape[0], height, width}, DType::uint8);
  const std::span<const std::uint8_t> from = bits.values<std::uint8_t>();
  const std::span<std::uint8_t> to = larger.mutable_values<std::uint8_t>();
  // The middle cell of one lies on the middle cell of the other, where seeds are.
  const std::int64_t top = height / 2 - shape[1] / 2;
  const std::int64_t left = width / 2 - shape[2] / 2;
  for (std::int64_t c = 0; c < shape[0]; ++c) {
    for (std::int64_t y = 0; y < shape[1]; ++y) {
      std::copy_n(from.begin() + (c * shape[1] + y) * shape[2], shape[2],
                  to.begin() + (c * height + top + y) * width + left);
    }
  }
  return larger;
}

}  // namespace

Tensor target_for(const ModelSpec& spec, std::int64_t height, std::int64_t width) {
  if (spec.task.kind == TaskKind::life) {
    fail("target", "expected an automaton with a state to reach, received life");
  }
  if (spec.task.kind == TaskKind::checkerboard) {
    return checkerboard_pattern(height, width, spec.task.square).bits;
  }
  const AutomatonTask task = make_automaton_task(spec);
  return centred(task.target.viewed_as({task.channels(), task.height(), task.width()}), height,
                 width);
}

std::uint64_t fresh_seed(const ModelSpec& spec) {
  constexpr std::uint64_t apart = 1000;
  return static_cast<std::uint64_t>(spec.seed) + apart;
}

Tensor starts_for(const ModelSpec& spec, const Rule& rule, std::int64_t grids, std::int64_t height,
                  std::int64_t width, std::uint64_t seed) {
  const Shape shape{rule.channels(), grids, height, width};
  const bool from_seed =
      spec.task.kind != TaskKind::life && spec.automaton.start == StartKind::seed;
  return from_seed ? seed_starts(shape) : random_starts(shape, seed, start_stream);
}

std::vector<Scenario> scenarios_of(const ModelSpec& spec) {
  const AutomatonOptions& a = spec.automaton;
  const std::uint64_t seed = fresh_seed(spec);
  const auto plain = [&](std::string name, std::int64_t factor) {
    return Scenario{std::move(name),
                    a.height * factor,
                    a.width * factor,
                    a.steps * (a.start == StartKind::random ? factor : 1),
                    {.fire_rate = a.fire_rate, .seed = seed}};
  };
  std::vector<Scenario> all{
      plain(a.start == StartKind::random ? "fresh starts" : "from the seed", 1),
      plain("twice as large", 2), plain("four times as large", 4)};

  Scenario late = plain(fmt::format("fire rate {}", chance), 1);
  late.options.fire_rate = chance;
  if (a.fire_rate > chance) {
    late.steps = static_cast<std::int64_t>(std::ceil(static_cast<double>(a.steps) / chance));
  }
  all.push_back(late);

  // Damage on a grid that it fits into.
  const std::int64_t factor = std::min(a.height, a.width) >= 2 * hole ? 1 : 2;
  const std::int64_t side = std::min({hole, a.height * factor, a.width * factor});
  const Rectangle rectangle = middle(a.height * factor, a.width * factor, side);
  Scenario dead = plain(fmt::format("{0}x{0} stays dead", side), factor);
  dead.options.damage = {{rectangle, 0, dead.steps}};
  all.push_back(dead);
  Scenario lifted = plain(fmt::format("{0}x{0} dead, then lifted", side), factor);
  lifted.options.damage = {{rectangle, 0, lifted.steps}};
  lifted.steps *= 2;
  all.push_back(lifted);
  Scenario resets = plain(fmt::format("{0}x{0} reset every step", side), factor);
  resets.options.reset = side;
  all.push_back(resets);
  return all;
}

GridErrors play(const ModelSpec& spec, const Rule& rule, const Scenario& scenario,
                std::int64_t grids) {
  const Tensor target = target_for(spec, scenario.height, scenario.width);
  Simulation simulation(
      rule, starts_for(spec, rule, grids, scenario.height, scenario.width, scenario.options.seed),
      scenario.options);
  simulation.step(scenario.steps);
  const std::int64_t channels = target.shape()[0];
  return compare(simulation.state(),
                 target.viewed_as({channels, 1, scenario.height, scenario.width}),
                 simulation.struck());
}

std::int64_t differences_from_life(const Rule& rule, std::int64_t height, std::int64_t width,
                                   std::int64_t steps, std::uint64_t seed, const Device& device) {
  const Tensor starts = random_starts({1, 1, height, width}, seed, start_stream);
  Simulation simulation(rule, starts, {.device = device});
  Tensor expected = starts.viewed_as({1, height, width});
  std::int64_t differences = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    simulation.step();
    expected = life_step(expected);
    differences += compare(simulation.state(), expected.viewed_as({1, 1, height, width}), {}).bits;
  }
  return differences;
}

}  // namespace boolgrad
