// `boolgrad eval` of automata: scenarios that the hardened rule is put into.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/automata/grid_errors.h"
#include "boolgrad/cli/automaton.h"
#include "boolgrad/cli/eval.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/evaluation.h"
#include "boolgrad/model/scenario.h"

namespace boolgrad::cli {
namespace {

/// A scenario and how it went.
struct Line {
  Scenario scenario;
  GridErrors mistakes;
};

/// All grids are the same where nothing is left to chance.
std::int64_t grids_of(const ModelSpec& spec, const Scenario& scenario, std::int64_t asked) {
  const bool same = spec.automaton.start == StartKind::seed && scenario.options.fire_rate == 1;
  return same ? 1 : asked;
}

std::vector<Line> play_all(const ModelSpec& spec, const Rule& rule, std::int64_t grids,
                           const Device& device) {
  std::vector<Line> lines;
  for (Scenario& scenario : scenarios_of(spec)) {
    scenario.options.device = device;
    lines.push_back({scenario, play(spec, rule, scenario, grids_of(spec, scenario, grids))});
  }
  return lines;
}

/// Every neighbourhood there is, as in training, and a long run beside Conway's own rule.
std::vector<Line> play_life(const ModelSpec& spec, const Rule& rule, const Device& device) {
  const AutomatonTask task = life_task();
  Simulation all(rule, task.starts, {.device = device});
  all.step();
  const GridErrors step = compare(all.state(), task.target);
  constexpr std::int64_t side = 128;
  constexpr std::int64_t steps = 300;
  const std::int64_t wrong =
      differences_from_life(rule, side, side, steps, fresh_seed(spec), device);
  return {{{"all neighbourhoods", task.height(), task.width(), 1}, step},
          {{"every step as Conway's", side, side, steps},
           {.bits = wrong,
            .grids = wrong > 0 ? 1 : 0,
            .all_bits = side * side * steps,
            .all_grids = 1}}};
}

void print_line(const Line& line) {
  const auto& [scenario, mistakes] = line;
  const auto share = [](double value) {
    // Rounded down: 100 % is said only when nothing is missing.
    return static_cast<double>(static_cast<std::int64_t>(value * 10000)) / 100;
  };
  fmt::print("  {:<24}{:>9}{:>7}{:>7}{:>18.1f}{:>11.2f}%{:>12.2f}%\n", scenario.name,
             fmt::format("{}x{}", scenario.height, scenario.width), scenario.steps,
             mistakes.all_grids,
             static_cast<double>(mistakes.bits) / static_cast<double>(mistakes.all_grids),
             share(mistakes.bit_accuracy()), share(mistakes.accuracy()));
}

void print_report(const std::string& path, const ModelSpec& spec, const Evaluation& evaluation,
                  const std::vector<Line>& lines) {
  fmt::print("{}: {}\n", printable(path), printable(spec.name));
  fmt::print("  soft loss {:.6g}, accuracy {:.2f} %\n", evaluation.soft_loss,
             100 * evaluation.soft_accuracy);
  fmt::print("  {:<24}{:>9}{:>7}{:>7}{:>18}{:>12}{:>13}\n", "hardened", "grid", "steps", "grids",
             "wrong bits a grid", "bits right", "grids right");
  for (const Line& line : lines) print_line(line);
}

nlohmann::json to_json(const ModelSpec& spec, const Evaluation& evaluation,
                       const std::vector<Line>& lines) {
  nlohmann::json scenarios = nlohmann::json::array();
  for (const auto& [scenario, mistakes] : lines) {
    scenarios.push_back({{"name", scenario.name},
                         {"height", scenario.height},
                         {"width", scenario.width},
                         {"steps", scenario.steps},
                         {"grids", mistakes.all_grids},
                         {"wrong_bits", mistakes.bits},
                         {"bit_accuracy", mistakes.bit_accuracy()},
                         {"accuracy", mistakes.accuracy()}});
  }
  const GridErrors& plain = lines.front().mistakes;
  return {{"experiment", spec.name},
          {"soft_loss", evaluation.soft_loss},
          {"soft_accuracy", evaluation.soft_accuracy},
          {"hard_loss", plain.bits},
          {"hard_accuracy", plain.accuracy()},
          {"bit_accuracy", plain.bit_accuracy()},
          {"scenarios", std::move(scenarios)}};
}

}  // namespace

void eval_automaton(const EvalArguments& arguments, const LoadedModel& loaded,
                    const CommonOptions& common) {
  constexpr std::int64_t usual_grids = 32;
  const Rule& rule = automaton_of(loaded, "eval", arguments.model);
  const ModelSpec& spec = *loaded.spec;
  const Evaluation evaluation = evaluate(rule, spec, arguments.device);
  const std::vector<Line> lines =
      spec.task.kind == TaskKind::life
          ? play_life(spec, rule, arguments.device)
          : play_all(spec, rule, arguments.grids.value_or(usual_grids), arguments.device);
  if (!common.quiet) print_report(arguments.model, spec, evaluation, lines);
  if (common.json) print_json(to_json(spec, evaluation, lines));
}

}  // namespace boolgrad::cli
