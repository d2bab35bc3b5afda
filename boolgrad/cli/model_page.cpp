#include "boolgrad/cli/model_page.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "boolgrad/cli/automaton.h"
#include "boolgrad/core/error.h"
#include "boolgrad/data/pattern.h"
#include "boolgrad/model/scenario.h"
#include "boolgrad/core/random_streams.h"

namespace boolgrad::cli {
namespace {

// Seeds beyond are no whole numbers to a browser.
constexpr std::uint64_t largest_page_seed = (std::uint64_t{1} << 53) - 1;

void add_target(const Experiment& experiment, ModelPage& page) {
  AutomatonPage& automaton = page.options.automaton;
  if (!experiment.is_automaton() || is_life(experiment)) return;
  if (experiment.task.kind == "checkerboard") {
    const std::int64_t period = 2 * experiment.task.square;
    automaton.target = checkerboard_pattern(period, period, experiment.task.square).bits;
    automaton.repeats_target = true;
    return;
  }
  try {
    automaton.target = target_for(experiment, automaton.height, automaton.width);
  } catch (const Error& error) {
    page.why_no_target = error.what();  // a picture that is no longer there
  }
}

ModelPage page_of_automaton(const Experiment& experiment, const Rule& rule) {
  ModelPage page;
  const Size size = default_size(experiment);
  const bool from_seed = !is_life(experiment) && experiment.automaton.start == StartKind::seed;
  AutomatonPage& automaton = page.options.automaton;
  automaton.height = size.height;
  automaton.width = size.width;
  automaton.start = from_seed ? PageStart::seed : PageStart::random;
  automaton.seed = fresh_seed(experiment) & largest_page_seed;
  automaton.fire_rate = experiment.automaton.fire_rate;
  automaton.trained_steps =
      experiment.is_automaton() && !is_life(experiment) ? experiment.automaton.steps : 0;
  automaton.start_stream = start_stream;
  automaton.fire_stream = fire_stream;
  automaton.damage_stream = damage_stream;
  add_target(experiment, page);
  const bool has_target = automaton.target.defined();
  const std::int64_t channels = has_target ? automaton.target.shape()[0] : rule.channels();
  automaton.shows_colours = channels >= 3 && (has_target || experiment.task.kind == "picture");
  return page;
}

/// What a Boolean task makes of its inputs, and whether these are two numbers.
struct TaskWords {
  std::string result;
  bool of_two = false;
};

const std::map<std::string, TaskWords>& task_words() {
  static const std::map<std::string, TaskWords> words{{"multiply", {"a × b", true}},
                                                      {"add", {"a + b", true}},
                                                      {"and", {"a AND b", true}},
                                                      {"xor", {"a XOR b", true}},
                                                      {"parity", {"parity of x"}},
                                                      {"reverse", {"x reversed"}},
                                                      {"copy", {"x"}},
                                                      {"gray", {"Gray code of x"}},
                                                      {"popcount", {"ones in x"}}};
  return words;
}

ModelPage page_of_circuit(const Model& model) {
  ModelPage page;
  if (!model.experiment) return page;
  const auto found = task_words().find(model.experiment->task.kind);
  if (found == task_words().end()) return page;
  const auto inputs = static_cast<std::size_t>(model.network().inputs());
  const auto outputs = static_cast<std::size_t>(model.network().outputs());
  if (found->second.of_two && inputs % 2 == 0) {
    page.options.inputs = {{"a", inputs / 2}, {"b", inputs / 2}};
  } else {
    page.options.inputs = {{"x", inputs}};
  }
  page.options.outputs = {{found->second.result, outputs}};
  return page;
}

}  // namespace

ModelPage page_of_model(const Model& model, std::string_view where, const std::string& path) {
  if (!model.is_automaton()) return page_of_circuit(model);
  const Rule& rule = automaton_of(model, where, path);
  return page_of_automaton(model.experiment.value_or(Experiment{}), rule);
}

}  // namespace boolgrad::cli
