#include "boolgrad/cli/automaton.h"

#include <algorithm>

#include "boolgrad/core/error.h"

namespace boolgrad::cli {

const Rule& automaton_of(const Model& model, std::string_view where, const std::string& path) {
  if (!model.is_automaton()) fail(where, "{}: expected an automaton, received a circuit", path);
  const Rule& rule = model.rule();
  if (!model.experiment) return rule;
  if (!model.experiment->is_automaton()) {
    fail(where, "{}: expected the experiment of an automaton, received {}", path,
         model.experiment->task.kind);
  }
  if (model.experiment->automaton.channels != rule.channels()) {
    fail(where, "{}: expected {} channels as its experiment has, received {}", path,
         model.experiment->automaton.channels, rule.channels());
  }
  return rule;
}

bool is_life(const Experiment& experiment) { return experiment.task.kind == "life"; }

Size default_size(const Experiment& experiment) {
  if (is_life(experiment)) return {64, 64};
  return {experiment.automaton.height, experiment.automaton.width};
}

Image for_terminal(const Image& cells) {
  constexpr std::int64_t side = 40;  // fits into 80 columns and 24 lines of two rows
  const std::int64_t longest = std::max(cells.width, cells.height);
  return longest * 2 <= side ? enlarged(cells, side / longest) : cells;
}

}  // namespace boolgrad::cli
