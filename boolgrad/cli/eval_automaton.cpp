// `boolgrad eval` for automata: the hardened rule in several scenarios.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/automata/grid_errors.h"
#include "boolgrad/cli/eval.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/evaluation.h"
#include "boolgrad/model/playback.h"
#include "boolgrad/model/scenario.h"
#include "boolgrad/model/tasks.h"

namespace boolgrad::cli {
namespace {

/// A scenario and its result.
struct Line {
  Scenario scenario;
  automata::GridErrors errors;
};

/// One grid is enough if nothing is random.
std::int64_t grids_of(const ModelSpec& spec, const Scenario& scenario, std::int64_t asked) {
  const bool same = spec.automaton.start == StartKind::seed && scenario.options.fire_rate == 1;
  return same ? 1 : asked;
}

std::vector<Line> play_all(const ModelSpec& spec, const automata::Rule& rule, std::int64_t grids,
                           const Device& device) {
  std::vector<Line> lines;
  for (Scenario& scenario : scenarios_of(spec)) {
    scenario.options.device = device;
    lines.push_back({scenario, play(spec, rule, scenario, grids_of(spec, scenario, grids))});
  }
  return lines;
}

/// All neighbourhoods, as in training, and a long run compared with the rule.
std::vector<Line> play_rule(const ModelSpec& spec, const automata::Rule& rule,
                            const Device& device) {
  const data::AutomatonTask task = make_automaton_task(spec);
  const data::CellRule expected = cell_rule_of(spec);
  Simulation all(rule, task.starts, {.device = device});
  all.step();
  const automata::GridErrors step = automata::compare(all.state(), task.target);
  constexpr std::int64_t side = 128;
  constexpr std::int64_t steps = 300;
  const std::int64_t errors =
      differences_from_rule(rule, expected, side, side, steps, fresh_seed(spec), device);
  const bool is_life = spec.task.kind == data::TaskKind::life;
  const bool is_complete = expected.known() == expected.neighbourhoods();
  const std::string name = is_life ? "Conway's" : expected.name();
  return {
      {{is_complete ? "all neighbourhoods"
                    : fmt::format("{} of {} known", expected.known(), expected.neighbourhoods()),
        task.height(), task.width(), 1},
       step},
      {{fmt::format("every step as {}", printable(name, 9)), side, side, steps},
       {.bits = errors,
        .grids = errors > 0 ? 1 : 0,
        .all_bits = side * side * steps * expected.channels(),
        .all_grids = 1}}};
}

void print_line(const Line& line) {
  const auto& [scenario, errors] = line;
  const auto percent = [](double value) {
    // Rounded down, so that 100 % means no error.
    return static_cast<double>(static_cast<std::int64_t>(value * 10000)) / 100;
  };
  fmt::print("  {:<24}{:>9}{:>7}{:>7}{:>17.1f}{:>13.2f}%{:>14.2f}%\n", scenario.name,
             fmt::format("{}x{}", scenario.height, scenario.width), scenario.steps,
             errors.all_grids,
             static_cast<double>(errors.bits) / static_cast<double>(errors.all_grids),
             percent(errors.bit_accuracy()), percent(errors.accuracy()));
}

/// How long a picture lasts; none for other tasks.
std::optional<Stay> stay_in(const ModelSpec& spec, const automata::Rule& rule,
                            const Device& device) {
  if (spec.task.kind != data::TaskKind::picture) return std::nullopt;
  return stay_of(spec, rule, device);
}

std::string text_of(const Stay& stay, std::int64_t growth) {
  if (stay.steps == 0) return fmt::format("the picture is wrong after its {} steps", growth);
  if (stay.right < stay.steps) {
    return fmt::format("the picture is right after {} steps and stays for {} more", growth,
                       stay.right);
  }
  return fmt::format("the picture is right after {} steps and stays for all {} that were run",
                     growth, stay.steps);
}

void print_report(const std::string& path, const ModelSpec& spec, const Evaluation& evaluation,
                  const std::vector<Line>& lines, const std::optional<Stay>& stay) {
  fmt::print("{}: {}\n", printable(path), printable(spec.name));
  fmt::print("  soft loss {:.6g}, accuracy {:.2f} %\n", evaluation.soft_loss,
             100 * evaluation.soft_accuracy);
  fmt::print("  {:<24}{:>9}{:>7}{:>7}{:>17}{:>14}{:>15}\n", "hardened", "grid", "steps", "grids",
             "bit errors/grid", "bits correct", "grids correct");
  for (const Line& line : lines) print_line(line);
  if (stay) fmt::print("  {}\n", text_of(*stay, spec.automaton.steps));
}

nlohmann::json to_json(const ModelSpec& spec, const Evaluation& evaluation,
                       const std::vector<Line>& lines, const std::optional<Stay>& stay) {
  nlohmann::json scenarios = nlohmann::json::array();
  for (const auto& [scenario, errors] : lines) {
    scenarios.push_back({{"name", scenario.name},
                         {"height", scenario.height},
                         {"width", scenario.width},
                         {"steps", scenario.steps},
                         {"grids", errors.all_grids},
                         {"wrong_bits", errors.bits},
                         {"bit_accuracy", errors.bit_accuracy()},
                         {"accuracy", errors.accuracy()}});
  }
  const automata::GridErrors& plain = lines.front().errors;
  nlohmann::json object = {{"experiment", spec.name},
                           {"soft_loss", evaluation.soft_loss},
                           {"soft_accuracy", evaluation.soft_accuracy},
                           {"hard_loss", plain.bits},
                           {"hard_accuracy", plain.accuracy()},
                           {"bit_accuracy", plain.bit_accuracy()},
                           {"scenarios", std::move(scenarios)}};
  if (stay) object["stays"] = {{"right_steps", stay->right}, {"steps", stay->steps}};
  return object;
}

}  // namespace

void eval_automaton(const EvalArguments& arguments, const LoadedModel& loaded,
                    const CommonOptions& common) {
  constexpr std::int64_t default_starts = 32;
  const automata::Rule& rule = automaton_of(loaded, "eval", arguments.model);
  const ModelSpec& spec = *loaded.spec;
  const Evaluation evaluation = evaluate(rule, spec, arguments.device);
  const std::vector<Line> lines =
      spec.learns_rule()
          ? play_rule(spec, rule, arguments.device)
          : play_all(spec, rule, arguments.starts.value_or(default_starts), arguments.device);
  const std::optional<Stay> stay = stay_in(spec, rule, arguments.device);
  if (!common.quiet) print_report(arguments.model, spec, evaluation, lines, stay);
  if (common.json) print_json(to_json(spec, evaluation, lines, stay));
}

}  // namespace boolgrad::cli
