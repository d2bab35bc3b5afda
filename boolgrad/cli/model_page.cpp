#include "boolgrad/cli/model_page.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "boolgrad/cli/automaton.h"
#include "boolgrad/core/error.h"
#include "boolgrad/core/random_streams.h"
#include "boolgrad/data/pattern.h"
#include "boolgrad/model/scenario.h"

namespace boolgrad::cli {
namespace {

// Seeds beyond are no whole numbers to a browser.
constexpr std::uint64_t largest_page_seed = (std::uint64_t{1} << 53) - 1;

void add_target(const ModelSpec& spec, ModelPage& page) {
  AutomatonPage& automaton = page.options.automaton;
  if (!spec.is_automaton() || is_life(spec)) return;
  if (spec.task.kind == TaskKind::checkerboard) {
    const std::int64_t period = 2 * spec.task.square;
    automaton.target = checkerboard_pattern(period, period, spec.task.square).bits;
    automaton.repeats_target = true;
    return;
  }
  try {
    automaton.target = target_for(spec, automaton.height, automaton.width);
  } catch (const Error& error) {
    page.why_no_target = error.what();  // a picture that is no longer there
  }
}

ModelPage page_of_automaton(const ModelSpec& spec, const Rule& rule) {
  ModelPage page;
  const Size size = default_size(spec);
  const bool from_seed = !is_life(spec) && spec.automaton.start == StartKind::seed;
  AutomatonPage& automaton = page.options.automaton;
  automaton.height = size.height;
  automaton.width = size.width;
  automaton.start = from_seed ? PageStart::seed : PageStart::random;
  automaton.seed = fresh_seed(spec) & largest_page_seed;
  automaton.fire_rate = spec.automaton.fire_rate;
  automaton.trained_steps = spec.is_automaton() && !is_life(spec) ? spec.automaton.steps : 0;
  automaton.start_stream = start_stream;
  automaton.fire_stream = fire_stream;
  automaton.damage_stream = damage_stream;
  add_target(spec, page);
  const bool has_target = automaton.target.defined();
  const std::int64_t channels = has_target ? automaton.target.shape()[0] : rule.channels();
  automaton.shows_colours = channels >= 3 && (has_target || spec.task.kind == TaskKind::picture);
  return page;
}

/// What a Boolean task makes of its inputs, and whether these are two numbers.
struct TaskWords {
  std::string result;
  bool of_two = false;
};

const std::map<TaskKind, TaskWords>& task_words() {
  static const std::map<TaskKind, TaskWords> words{{TaskKind::multiply, {"a × b", true}},
                                                   {TaskKind::add, {"a + b", true}},
                                                   {TaskKind::bitwise_and, {"a AND b", true}},
                                                   {TaskKind::bitwise_xor, {"a XOR b", true}},
                                                   {TaskKind::parity, {"parity of x"}},
                                                   {TaskKind::reverse, {"x reversed"}},
                                                   {TaskKind::copy, {"x"}},
                                                   {TaskKind::gray, {"Gray code of x"}},
                                                   {TaskKind::popcount, {"ones in x"}}};
  return words;
}

ModelPage page_of_circuit(const LoadedModel& loaded) {
  ModelPage page;
  if (!loaded.spec) return page;
  const auto found = task_words().find(loaded.spec->task.kind);
  if (found == task_words().end()) return page;
  const auto inputs = static_cast<std::size_t>(loaded.model.network().inputs());
  const auto outputs = static_cast<std::size_t>(loaded.model.network().outputs());
  if (found->second.of_two && inputs % 2 == 0) {
    page.options.inputs = {{"a", inputs / 2}, {"b", inputs / 2}};
  } else {
    page.options.inputs = {{"x", inputs}};
  }
  page.options.outputs = {{found->second.result, outputs}};
  return page;
}

}  // namespace

ModelPage page_of_model(const LoadedModel& loaded, std::string_view where,
                        const std::string& path) {
  if (!loaded.model.is_automaton()) return page_of_circuit(loaded);
  const Rule& rule = automaton_of(loaded, where, path);
  return page_of_automaton(loaded.spec.value_or(ModelSpec{}), rule);
}

}  // namespace boolgrad::cli
