#include "boolgrad/cli/automaton.h"

#include <algorithm>

#include "boolgrad/core/fail.h"

namespace boolgrad::cli {

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

bool is_life(const ModelSpec& spec) { return spec.task.kind == data::TaskKind::life; }

Size default_size(const ModelSpec& spec) {
  if (is_life(spec)) return {64, 64};
  return {spec.automaton.height, spec.automaton.width};
}

picture::Image for_terminal(const picture::Image& cells) {
  constexpr std::int64_t side = 40;  // fits into 80 columns and 24 lines of two rows each
  const std::int64_t longest = std::max(cells.width, cells.height);
  return longest * 2 <= side ? picture::enlarged(cells, side / longest) : cells;
}

}  // namespace boolgrad::cli
