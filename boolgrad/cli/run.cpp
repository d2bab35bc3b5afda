// `boolgrad run`: runs a hardened automaton on a grid of any size.
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "boolgrad/automata/grid_errors.h"
#include "boolgrad/automata/rollout.h"
#include "boolgrad/cli/animation.h"
#include "boolgrad/cli/automaton.h"
#include "boolgrad/cli/command.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/scenario.h"
#include "boolgrad/model/simulation.h"
#include "boolgrad/model/state_image.h"
#include "boolgrad/picture/png.h"

namespace boolgrad::cli {
namespace {

struct RunArguments {
  std::string model;
  std::string size;  ///< empty: that of the experiment
  std::optional<std::int64_t> steps;
  std::optional<double> fire_rate;
  std::vector<std::string> damage;
  std::optional<std::int64_t> seed;
  std::string gif;
  std::string png;
  bool show = false;
  Device device = {};
};

// ---------------------------------------------------------------------------------------------
// Arguments

/// The numbers that match a pattern, 0 for optional ones that are missing; none without a match.
std::optional<std::vector<std::int64_t>> numbers_in(const std::string& text, const char* pattern) {
  std::smatch found;
  if (!std::regex_match(text, found, std::regex(pattern))) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 1; i < found.size(); ++i) {
    const std::string digits = found[i].str();
    std::int64_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    numbers.push_back(number);
  }
  return numbers;
}

Size parse_size(const std::string& text) {
  const auto numbers = numbers_in(text, "([0-9]{1,9})x([0-9]{1,9})");
  if (!numbers) {
    throw UsageError(
        fmt::format("[run] expected --size HEIGHTxWIDTH in cells, such as 64x64, received '{}'",
                    printable(text)));
  }
  return {numbers->at(0), numbers->at(1)};
}

/// Damage after a single step. Without a position, it is centred.
Damage parse_damage(const std::string& text, const Size& grid) {
  const auto numbers = numbers_in(
      text, R"(([0-9]{1,9})x([0-9]{1,9})(?:\+([0-9]{1,9})\+([0-9]{1,9}))?@step([0-9]{1,9}))");
  if (!numbers) {
    throw UsageError(
        fmt::format("[run] expected --damage HEIGHTxWIDTH[+ROW+COLUMN]@stepN, such as 10x10@step20 "
                    "or 4x8+0+3@step5, received '{}'",
                    printable(text)));
  }
  automata::Rectangle rectangle{numbers->at(2), numbers->at(3), numbers->at(0), numbers->at(1)};
  if (text.find('+') == std::string::npos) {
    rectangle.top = (grid.height - rectangle.height) / 2;
    rectangle.left = (grid.width - rectangle.width) / 2;
  }
  return {rectangle, numbers->at(4), numbers->at(4)};
}

void check_arguments(const RunArguments& arguments, const CommonOptions& common) {
  if (arguments.show && common.quiet) {
    throw UsageError("[run] expected --show or --quiet, received both");
  }
  if (arguments.fire_rate && !(*arguments.fire_rate >= 0 && *arguments.fire_rate <= 1)) {
    throw UsageError(
        fmt::format("[run] expected --async from 0 to 1, received {}", *arguments.fire_rate));
  }
  constexpr std::int64_t max_steps = 1'000'000'000;
  if (arguments.steps && (*arguments.steps < 0 || *arguments.steps > max_steps)) {
    throw UsageError(fmt::format("[run] expected --steps from 0 to {}, received {}", max_steps,
                                 *arguments.steps));
  }
  if (arguments.seed && *arguments.seed < 0) {
    throw UsageError(
        fmt::format("[run] expected --seed of at least 0, received {}", *arguments.seed));
  }
  check_device(arguments.device, on_gpus);
}

/// Throws if the grid is empty or too large.
void check_size(const Size& size, const automata::Rule& rule) {
  constexpr std::int64_t max_cells = std::int64_t{1} << 28;
  constexpr std::int64_t max_bits = std::int64_t{1} << 31;
  const std::int64_t max = std::min(max_cells, max_bits / rule.channels());
  if (size.height < 1 || size.width < 1 || size.height > max / size.width) {
    fail("run", "expected 1 to {} cells, received {}x{}", max, size.height, size.width);
  }
  automata::check_grid(rule.border(), size.height, size.width);
}

// ---------------------------------------------------------------------------------------------
// Defaults

/// As many steps as in training. A larger grid that starts from noise gets more, since order has to
/// spread further.
std::int64_t default_steps(const ModelSpec& spec, const Size& size) {
  constexpr std::int64_t of_life = 100;
  if (is_life(spec)) return of_life;
  const AutomatonOptions& options = spec.automaton;
  if (options.start == StartKind::seed) return options.steps;
  const double scale =
      std::max({1.0, static_cast<double>(size.height) / static_cast<double>(options.height),
                static_cast<double>(size.width) / static_cast<double>(options.width)});
  return static_cast<std::int64_t>(std::ceil(scale * static_cast<double>(options.steps)));
}

/// The target of the last state.
struct Goal {
  Tensor target = {};        ///< uint8 [channels, 1, height, width]; undefined if there is none
  std::string why_not = {};  ///< why there is none, if it is not available
};

Goal goal_of(const ModelSpec& spec, const Size& size) {
  if (!spec.is_automaton() || is_life(spec)) return {};
  try {
    const Tensor target = target_for(spec, size.height, size.width);
    return {target.viewed_as({target.shape()[0], 1, size.height, size.width})};
  } catch (const Error& error) {
    // The picture does not fit into the grid, or its file is missing.
    return {{}, error.what()};
  }
}

/// Number of channels to show: those of the target, or three colours, or one.
std::int64_t shown_channels(const ModelSpec& spec, const automata::Rule& rule, const Goal& goal) {
  if (goal.target.defined()) return goal.target.shape()[0];
  const Size own = default_size(spec);
  const Goal at_home = goal_of(spec, own);
  if (at_home.target.defined()) return at_home.target.shape()[0];
  return rule.channels() >= 3 ? 3 : 1;
}

// ---------------------------------------------------------------------------------------------
// The run

struct Plan {
  ModelSpec spec;
  automata::Rule rule;
  Size size;
  std::int64_t steps = 0;
  SimulationOptions options;
  Goal goal;
  std::int64_t channels = 1;  ///< to show
};

Plan plan_of(const RunArguments& arguments) {
  const LoadedModel loaded = load_model(arguments.model);
  const automata::Rule& rule = automaton_of(loaded, "run", arguments.model);
  Plan plan{.spec = loaded.spec.value_or(ModelSpec{}),
            .rule = rule,
            .size = {},
            .steps = 0,
            .options = {},
            .goal = {}};
  plan.size = arguments.size.empty() ? default_size(plan.spec) : parse_size(arguments.size);
  check_size(plan.size, rule);
  plan.steps = arguments.steps.value_or(default_steps(plan.spec, plan.size));
  plan.options.fire_rate = arguments.fire_rate.value_or(plan.spec.automaton.fire_rate);
  plan.options.device = arguments.device;
  plan.options.seed =
      arguments.seed ? static_cast<std::uint64_t>(*arguments.seed) : fresh_seed(plan.spec);
  for (const std::string& text : arguments.damage) {
    plan.options.damage.push_back(parse_damage(text, plan.size));
    if (plan.options.damage.back().first > plan.steps) {
      throw UsageError(fmt::format("[run] expected damage at step 0 to {}, received '{}'",
                                   plan.steps, printable(text)));
    }
  }
  plan.goal = goal_of(plan.spec, plan.size);
  plan.channels = shown_channels(plan.spec, rule, plan.goal);
  return plan;
}

/// Throws before any step if the picture could not be written.
void check_png(const RunArguments& arguments, const Size& size) {
  if (arguments.png.empty()) return;
  picture::check_size("png", size.width, size.height);
  const Replacement writable("png", arguments.png);
}

struct Outcome {
  double seconds = 0;                      ///< time of the steps only
  std::optional<std::int64_t> bit_errors;  ///< none without a target
};

Outcome play(const Plan& plan, const RunArguments& arguments) {
  using Clock = std::chrono::steady_clock;
  Simulation simulation(
      plan.rule,
      starts_for(plan.spec, plan.rule, 1, plan.size.height, plan.size.width, plan.options.seed),
      plan.options);
  check_png(arguments, plan.size);
  AnimationRecorder animation({.gif = arguments.gif,
                               .show = arguments.show,
                               .height = plan.size.height,
                               .width = plan.size.width,
                               .steps = plan.steps});
  Outcome outcome;
  // Without an animation only the last state matters.
  const std::int64_t at_once = animation.is_active() ? 1 : std::max<std::int64_t>(1, plan.steps);
  while (true) {
    if (animation.wants(simulation.steps(), !simulation.damaged().empty())) {
      animation.add(simulation.steps(), state_image(simulation.state(), plan.channels));
    }
    if (simulation.steps() == plan.steps) break;
    const Clock::time_point before = Clock::now();
    simulation.step(at_once);
    simulation.wait();
    outcome.seconds += std::chrono::duration<double>(Clock::now() - before).count();
  }
  if (!arguments.png.empty()) {
    const picture::Image cells = state_image(simulation.state(), plan.channels);
    picture::write_png(arguments.png,
                       picture::enlarged(cells, pixels_per_cell(cells.height, cells.width)));
  }
  if (plan.goal.target.defined()) {
    outcome.bit_errors = automata::compare(simulation.state(), plan.goal.target).bits;
  }
  return outcome;
}

double updates_per_second(const Plan& plan, const Outcome& outcome) {
  if (plan.steps == 0) return 0;
  const double updates = static_cast<double>(plan.steps) * static_cast<double>(plan.size.height) *
                         static_cast<double>(plan.size.width);
  return updates / std::max(outcome.seconds, 1e-9);
}

void print_report(const RunArguments& arguments, const Plan& plan, const Outcome& outcome) {
  fmt::print(
      "{}: {}x{} cells, {} steps{}\n", printable(arguments.model), plan.size.height,
      plan.size.width, plan.steps,
      plan.options.fire_rate < 1 ? fmt::format(", fire rate {}", plan.options.fire_rate) : "");
  if (plan.steps > 0) {
    fmt::print("  speed       {:.4g} million cell updates per second\n",
               updates_per_second(plan, outcome) / 1e6);
  }
  if (outcome.bit_errors) {
    fmt::print("  bit errors  {} of {}\n", *outcome.bit_errors, plan.goal.target.size());
  } else if (!plan.goal.why_not.empty()) {
    fmt::print("  bit errors  unknown: {}\n", printable(plan.goal.why_not));
  }
  if (!arguments.gif.empty()) fmt::print("  gif         {}\n", printable(arguments.gif));
  if (!arguments.png.empty()) fmt::print("  png         {}\n", printable(arguments.png));
}

nlohmann::json to_json(const RunArguments& arguments, const Plan& plan, const Outcome& outcome) {
  const auto path_or_null = [](const std::string& path) {
    return path.empty() ? nlohmann::json() : nlohmann::json(path);
  };
  return {{"model", arguments.model},
          {"height", plan.size.height},
          {"width", plan.size.width},
          {"steps", plan.steps},
          {"fire_rate", plan.options.fire_rate},
          {"seed", plan.options.seed},
          {"wrong_bits", outcome.bit_errors ? nlohmann::json(*outcome.bit_errors) : nullptr},
          {"cell_updates_per_second", updates_per_second(plan, outcome)},
          {"gif", path_or_null(arguments.gif)},
          {"png", path_or_null(arguments.png)}};
}

int run(const RunArguments& arguments, const CommonOptions& common) {
  check_arguments(arguments, common);
  const Plan plan = plan_of(arguments);
  const Outcome outcome = play(plan, arguments);
  if (!common.quiet) print_report(arguments, plan, outcome);
  if (common.json) print_json(to_json(arguments, plan, outcome));
  return 0;
}

}  // namespace

void add_run(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command = new_command(
      root, common, "run", "Run a hardened automaton on any grid; write an animation.",
      "boolgrad run runs/checkerboard-1/model.safetensors --size 64x64 --damage 20x20@step40 "
      "--gif heals.gif");
  const auto arguments = std::make_shared<RunArguments>();
  command->add_option("model", arguments->model, "Model or checkpoint of an automaton")
      ->type_name("MODEL")
      ->required();
  command->add_option("--size", arguments->size, "Size of the grid; as in training by default")
      ->type_name("HxW");
  command
      ->add_option("--steps", arguments->steps,
                   "Number of steps; as in training by default, more on a larger grid")
      ->type_name("N");
  command
      ->add_option("--async", arguments->fire_rate,
                   "Probability that a cell updates in a step; as in training by default")
      ->type_name("RATE");
  command
      ->add_option(
          "--damage", arguments->damage,
          "Set a rectangle of cells to 0 after step N; centred by default; may be repeated")
      ->type_name("HxW[+ROW+COLUMN]@stepN")
      ->allow_extra_args(false);
  command->add_option("--seed", arguments->seed, "Seed of random starts and updates")
      ->type_name("N");
  command->add_option("--gif", arguments->gif, "Write an animation")->type_name("FILE");
  command->add_option("--png", arguments->png, "Write a picture of the last state")
      ->type_name("FILE");
  command->add_flag("--show", arguments->show, "Show the animation in the terminal");
  add_device(*command, arguments->device);
  command->callback([arguments, &common, &job] {
    job = [arguments, &common] { return run(*arguments, common); };
  });
}

}  // namespace boolgrad::cli
