#include "boolgrad/model/playback.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "boolgrad/automata/grid_errors.h"
#include "boolgrad/automata/rollout.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/model/scenario.h"

namespace boolgrad {
namespace {

/// Throws if the grid is empty or too large.
void check_size(std::string_view where, const GridSize& size, const automata::Rule& rule) {
  constexpr std::int64_t max_cells = std::int64_t{1} << 28;
  constexpr std::int64_t max_bits = std::int64_t{1} << 31;
  const std::int64_t max = std::min(max_cells, max_bits / rule.channels());
  if (size.height < 1 || size.width < 1 || size.height > max / size.width) {
    fail(where, "expected 1 to {} cells, received {}x{}", max, size.height, size.width);
  }
  automata::check_grid(rule.border(), size.height, size.width);
}

/// The target of the last state.
struct Goal {
  Tensor target = {};
  std::string why_not = {};
};

Goal goal_of(const ModelSpec& spec, const GridSize& size) {
  if (!spec.is_automaton() || spec.learns_rule()) return {};
  try {
    const Tensor target = target_for(spec, size.height, size.width);
    return {target.viewed_as({target.shape()[0], 1, size.height, size.width})};
  } catch (const Error& error) {
    // The picture does not fit into the grid, or its file is missing.
    return {{}, error.what()};
  }
}

/// Number of channels to show: those of the target or of the states of a rule, or three colours, or
/// one.
std::int64_t shown_channels(const ModelSpec& spec, const automata::Rule& rule, const Goal& goal) {
  if (goal.target.defined()) return goal.target.shape()[0];
  if (spec.learns_rule()) return rule.channels();
  const Goal at_home = goal_of(spec, default_size(spec));
  if (at_home.target.defined()) return at_home.target.shape()[0];
  return rule.channels() >= 3 ? 3 : 1;
}

GridSize size_of(const PlaybackOptions& options, const ModelSpec& spec, std::string_view where) {
  if (!options.start.defined()) return options.size.value_or(default_size(spec));
  const Shape& shape = options.start.shape();
  if (shape.size() != 4) {
    fail(where, "expected a state [channels, grids, height, width], received {}", to_string(shape));
  }
  return {shape[2], shape[3]};
}

}  // namespace

const automata::Rule& automaton_of(const LoadedModel& loaded, std::string_view where,
                                   const std::string& path) {
  if (!loaded.model.is_automaton())
    fail(where, "{}: expected an automaton, received a circuit", path);
  const automata::Rule& rule = loaded.model.rule();
  if (!loaded.spec) return rule;
  if (!loaded.spec->is_automaton()) {
    fail(where, "{}: expected the experiment of an automaton, received {}", path,
         to_string(loaded.spec->task.kind));
  }
  if (loaded.spec->automaton.channels != rule.channels()) {
    fail(where, "{}: expected {} channels, as in its experiment, received {}", path,
         loaded.spec->automaton.channels, rule.channels());
  }
  return rule;
}

GridSize default_size(const ModelSpec& spec) {
  if (spec.learns_rule()) return {64, 64};
  return {spec.automaton.height, spec.automaton.width};
}

std::int64_t default_steps(const ModelSpec& spec, const GridSize& size) {
  constexpr std::int64_t of_rules = 100;
  if (spec.learns_rule()) return of_rules;
  const AutomatonOptions& options = spec.automaton;
  if (options.start == StartKind::seed) return options.steps;
  const double scale =
      std::max({1.0, static_cast<double>(size.height) / static_cast<double>(options.height),
                static_cast<double>(size.width) / static_cast<double>(options.width)});
  return static_cast<std::int64_t>(std::ceil(scale * static_cast<double>(options.steps)));
}

Playback make_playback(const LoadedModel& loaded, const PlaybackOptions& options,
                       std::string_view where, const std::string& path) {
  const automata::Rule& rule = automaton_of(loaded, where, path);
  Playback playback{.spec = loaded.spec.value_or(ModelSpec{}),
                    .rule = rule,
                    .size = {},
                    .start = {},
                    .options = {}};
  const ModelSpec& spec = playback.spec;
  playback.size = size_of(options, spec, where);
  check_size(where, playback.size, rule);
  playback.steps = options.steps.value_or(default_steps(spec, playback.size));
  if (playback.steps < 0 || playback.steps > max_playback_steps) {
    fail(where, "expected 0 to {} steps, received {}", max_playback_steps, playback.steps);
  }
  SimulationOptions& simulation = playback.options;
  simulation.fire_rate = options.fire_rate.value_or(spec.automaton.fire_rate);
  if (!(simulation.fire_rate >= 0 && simulation.fire_rate <= 1)) {
    fail(where, "expected a fire rate from 0 to 1, received {}", simulation.fire_rate);
  }
  simulation.seed = options.seed.value_or(fresh_seed(spec));
  simulation.damage = options.damage;
  simulation.device = options.device;
  simulation.group = options.group;
  playback.start = options.start.defined() ? options.start
                                           : starts_for(spec, rule, 1, playback.size.height,
                                                        playback.size.width, simulation.seed);
  Goal goal = goal_of(spec, playback.size);
  playback.channels = shown_channels(spec, rule, goal);
  playback.target = std::move(goal.target);
  playback.why_no_target = std::move(goal.why_not);
  return playback;
}

PlaybackResult play(const Playback& playback, FrameSink* sink) {
  using Clock = std::chrono::steady_clock;
  Simulation simulation(playback.rule, playback.start, playback.options);
  const bool has_frames = sink != nullptr && sink->is_active();
  // Without frames only the last state matters.
  const std::int64_t at_once = has_frames ? 1 : std::max<std::int64_t>(1, playback.steps);
  double seconds = 0;
  while (true) {
    if (has_frames && sink->wants(simulation.steps(), !simulation.damaged().empty())) {
      sink->add(simulation.steps(), simulation.state());
    }
    if (simulation.steps() == playback.steps) break;
    const Clock::time_point before = Clock::now();
    simulation.step(at_once);
    simulation.wait();
    seconds += std::chrono::duration<double>(Clock::now() - before).count();
  }
  PlaybackResult result{.last = simulation.state(), .seconds = seconds};
  if (playback.target.defined()) {
    result.bit_errors = automata::compare(result.last, playback.target).bits;
  }
  return result;
}

}  // namespace boolgrad
