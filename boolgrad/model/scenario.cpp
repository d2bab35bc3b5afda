#include "boolgrad/model/scenario.h"

#include <algorithm>
#include <cmath>

#include "boolgrad/automata/starts.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/random.h"
#include "boolgrad/core/random_streams.h"
#include "boolgrad/data/automaton_task.h"
#include "boolgrad/data/pattern.h"
#include "boolgrad/model/tasks.h"
#include "boolgrad/options/target.h"

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
  if (spec.learns_rule()) {
    fail("target", "expected an automaton with a target state, received {}",
         to_string(spec.task.kind));
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

namespace {

/// Random states, each equally often, as bits [channels, grids, height, width].
Tensor random_states(const Shape& shape, int states, std::uint64_t seed) {
  Tensor cells({shape[1], shape[2], shape[3]}, DType::uint8);
  const std::span<std::uint8_t> to = cells.mutable_values<std::uint8_t>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = static_cast<std::uint8_t>(random_below(
        {.seed = seed, .stream = start_stream, .index = i}, static_cast<std::uint64_t>(states)));
  }
  return data::bits_of_states(cells, states);
}

/// Starts of a rule with one state more than channels.
Tensor rule_starts(const Shape& shape, std::uint64_t seed) {
  const auto states = static_cast<int>(shape[0] + 1);
  return states == 2 ? automata::random_starts(shape, seed, start_stream)
                     : random_states(shape, states, seed);
}

}  // namespace

Tensor starts_for(const ModelSpec& spec, const automata::Rule& rule, std::int64_t grids,
                  std::int64_t height, std::int64_t width, std::uint64_t seed) {
  const Shape shape{rule.channels(), grids, height, width};
  if (spec.learns_rule()) return rule_starts(shape, seed);
  return spec.automaton.start == StartKind::seed
             ? automata::seed_starts(shape)
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
  if (spec.task.kind == data::TaskKind::picture) {
    Scenario longer = plain("four times the steps", 1);
    longer.steps *= 4;
    all.insert(all.begin() + 1, longer);
  }

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
  if (spec.task.kind != data::TaskKind::picture) return all;

  // On its own grid, and once: a picture that knows its border does not grow on another one.
  for (const std::int64_t hit : {1, 2, 4}) {
    if (hit > std::min(a.height, a.width)) break;
    Scenario struck = plain(fmt::format("{0}x{0} lost when grown", hit), 1);
    struck.options.damage = {{middle(a.height, a.width, hit), struck.steps, struck.steps}};
    struck.steps *= 4;
    all.push_back(struck);
  }
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

Stay stay_of(const ModelSpec& spec, const automata::Rule& rule, const Device& device) {
  constexpr std::int64_t times = 16;
  const AutomatonOptions& a = spec.automaton;
  const Tensor target = target_for(spec, a.height, a.width);
  const Tensor wanted = target.viewed_as({target.shape()[0], 1, a.height, a.width});
  const std::uint64_t seed = fresh_seed(spec);
  Simulation simulation(rule, starts_for(spec, rule, 1, a.height, a.width, seed),
                        {.fire_rate = a.fire_rate, .seed = seed, .device = device});
  simulation.step(a.steps);
  Stay stay;
  while (automata::compare(simulation.state(), wanted).bits == 0) {
    stay.right = stay.steps;
    if (simulation.steps() >= times * a.steps) break;
    simulation.step();
    ++stay.steps;
  }
  return stay;
}

std::int64_t differences_from_rule(const automata::Rule& rule, const data::CellRule& expected,
                                   std::int64_t height, std::int64_t width, std::int64_t steps,
                                   std::uint64_t seed, const Device& device) {
  const bool is_complete = expected.known() == expected.neighbourhoods();
  const Tensor starts = rule_starts({expected.channels(), 1, height, width}, seed);
  Simulation simulation(rule, starts, {.device = device});
  Tensor states = data::states_of_bits(starts);
  std::int64_t differences = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    simulation.step();
    Tensor known;
    states = expected.step(states, &known);
    Tensor bits = data::bits_of_states(states, expected.states());
    if (!is_complete) {
      const std::span<std::uint8_t> values = bits.mutable_values<std::uint8_t>();
      const std::span<const std::uint8_t> flags = known.values<std::uint8_t>();
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (flags[i % flags.size()] == 0) values[i] = any_value;
      }
      states = data::states_of_bits(simulation.state().to_tensor(DType::uint8));
    }
    differences += automata::compare(simulation.state(), bits).bits;
  }
  return differences;
}

}  // namespace boolgrad
