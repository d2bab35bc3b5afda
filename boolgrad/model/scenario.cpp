#include "boolgrad/model/scenario.h"

#include <algorithm>
#include <cmath>

#include "boolgrad/automata/starts.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/random_streams.h"
#include "boolgrad/data/automaton_task.h"
#include "boolgrad/data/pattern.h"
#include "boolgrad/model/tasks.h"

namespace boolgrad {
namespace {

constexpr double low_fire_rate = 0.6;
constexpr std::int64_t hole = 10;  // side of the damaged square

automata::Rectangle middle(std::int64_t height, std::int64_t width, std::int64_t side) {
  return {(height - side) / 2, (width - side) / 2, side, side};
}

/// A picture centred on a larger grid.
Tensor centred(const Tensor& bits, std::int64_t height, std::int64_t width) {
  const Shape& shape = bits.shape();
  if (height < shape[1] || width < shape[2]) {
    fail("target", "expected a grid of at least {}x{} cells for the picture, received {}x{}",
         shape[1], shape[2], height, width);
  }
  Tensor larger = Tensor::zeros({shape[0], height, width}, DType::uint8);
  const std::span<const std::uint8_t> from = bits.values<std::uint8_t>();
  const std::span<std::uint8_t> to = larger.mutable_values<std::uint8_t>();
  // The middle cells coincide, since automata grow from there.
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
  if (spec.task.kind == data::TaskKind::life) {
    fail("target", "expected an automaton with a target state, received life");
  }
  if (spec.task.kind == data::TaskKind::checkerboard) {
    return data::checkerboard_pattern(height, width, spec.task.square).bits;
  }
  const data::AutomatonTask task = make_automaton_task(spec);
  return centred(task.target.viewed_as({task.channels(), task.height(), task.width()}), height,
                 width);
}

std::uint64_t fresh_seed(const ModelSpec& spec) {
  constexpr std::uint64_t offset = 1000;
  return static_cast<std::uint64_t>(spec.seed) + offset;
}

Tensor starts_for(const ModelSpec& spec, const automata::Rule& rule, std::int64_t grids,
                  std::int64_t height, std::int64_t width, std::uint64_t seed) {
  const Shape shape{rule.channels(), grids, height, width};
  const bool from_seed =
      spec.task.kind != data::TaskKind::life && spec.automaton.start == StartKind::seed;
  return from_seed ? automata::seed_starts(shape)
                   : automata::random_starts(shape, seed, start_stream);
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

  Scenario slow = plain(fmt::format("fire rate {}", low_fire_rate), 1);
  slow.options.fire_rate = low_fire_rate;
  if (a.fire_rate > low_fire_rate) {
    slow.steps = static_cast<std::int64_t>(std::ceil(static_cast<double>(a.steps) / low_fire_rate));
  }
  all.push_back(slow);

  // On a grid that is large enough for the damage.
  const std::int64_t factor = std::min(a.height, a.width) >= 2 * hole ? 1 : 2;
  const std::int64_t side = std::min({hole, a.height * factor, a.width * factor});
  const automata::Rectangle rectangle = middle(a.height * factor, a.width * factor, side);
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

automata::GridErrors play(const ModelSpec& spec, const automata::Rule& rule,
                          const Scenario& scenario, std::int64_t grids) {
  const Tensor target = target_for(spec, scenario.height, scenario.width);
  Simulation simulation(
      rule, starts_for(spec, rule, grids, scenario.height, scenario.width, scenario.options.seed),
      scenario.options);
  simulation.step(scenario.steps);
  const std::int64_t channels = target.shape()[0];
  return automata::compare(simulation.state(),
                           target.viewed_as({channels, 1, scenario.height, scenario.width}),
                           simulation.damaged());
}

std::int64_t differences_from_life(const automata::Rule& rule, std::int64_t height,
                                   std::int64_t width, std::int64_t steps, std::uint64_t seed,
                                   const Device& device) {
  const Tensor starts = automata::random_starts({1, 1, height, width}, seed, start_stream);
  Simulation simulation(rule, starts, {.device = device});
  Tensor expected = starts.viewed_as({1, height, width});
  std::int64_t differences = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    simulation.step();
    expected = data::life_step(expected);
    differences +=
        automata::compare(simulation.state(), expected.viewed_as({1, 1, height, width}), {}).bits;
  }
  return differences;
}

}  // namespace boolgrad
