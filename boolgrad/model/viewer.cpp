#include "boolgrad/model/viewer.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "boolgrad/core/error.h"
#include "boolgrad/core/random_streams.h"
#include "boolgrad/data/pattern.h"
#include "boolgrad/model/playback.h"
#include "boolgrad/model/scenario.h"
#include "boolgrad/model/task_words.h"

namespace boolgrad {
namespace {

// Larger integers are not exact in JavaScript.
constexpr std::uint64_t max_viewer_seed = (std::uint64_t{1} << 53) - 1;

void add_target(const ModelSpec& spec, ModelViewer& viewer) {
  circuit::HtmlAutomaton& automaton = viewer.options.automaton;
  if (!spec.is_automaton() || spec.learns_rule()) return;
  if (spec.task.kind == data::TaskKind::checkerboard) {
    const std::int64_t period = 2 * spec.task.square;
    automaton.target = data::checkerboard_pattern(period, period, spec.task.square).bits;
    automaton.repeats_target = true;
    return;
  }
  try {
    automaton.target = target_for(spec, automaton.height, automaton.width);
  } catch (const Error& error) {
    viewer.why_no_target = error.what();  // the picture is missing
  }
}

ModelViewer viewer_of_automaton(const ModelSpec& spec, const automata::Rule& rule) {
  ModelViewer viewer;
  const GridSize size = default_size(spec);
  const bool from_seed = !spec.learns_rule() && spec.automaton.start == StartKind::seed;
  circuit::HtmlAutomaton& automaton = viewer.options.automaton;
  automaton.height = size.height;
  automaton.width = size.width;
  automaton.start = from_seed ? circuit::HtmlStart::seed : circuit::HtmlStart::random;
  if (spec.learns_rule()) automaton.states = rule.channels() + 1;
  automaton.seed = fresh_seed(spec) & max_viewer_seed;
  automaton.fire_rate = spec.automaton.fire_rate;
  automaton.trained_steps = spec.is_automaton() && !spec.learns_rule() ? spec.automaton.steps : 0;
  automaton.start_stream = start_stream;
  automaton.fire_stream = fire_stream;
  automaton.damage_stream = damage_stream;
  add_target(spec, viewer);
  const bool has_target = automaton.target.defined();
  const std::int64_t channels = has_target ? automaton.target.shape()[0] : rule.channels();
  automaton.shows_colours =
      channels >= 3 && (has_target || spec.task.kind == data::TaskKind::picture);
  return viewer;
}

ModelViewer viewer_of_circuit(const LoadedModel& loaded) {
  ModelViewer viewer;
  if (!loaded.spec) return viewer;
  const TaskWords* words = task_words(loaded.spec->task.kind);
  if (words == nullptr) return viewer;
  const auto inputs = static_cast<std::size_t>(loaded.model.network().inputs());
  const auto outputs = static_cast<std::size_t>(loaded.model.network().outputs());
  if (words->of_two && inputs % 2 == 0) {
    viewer.options.inputs = {{"a", inputs / 2}, {"b", inputs / 2}};
  } else {
    viewer.options.inputs = {{"x", inputs}};
  }
  viewer.options.outputs = {{words->result, outputs}};
  return viewer;
}

}  // namespace

ModelViewer viewer_of_model(const LoadedModel& loaded, std::string_view where,
                            const std::string& path) {
  if (!loaded.model.is_automaton()) return viewer_of_circuit(loaded);
  const automata::Rule& rule = automaton_of(loaded, where, path);
  return viewer_of_automaton(loaded.spec.value_or(ModelSpec{}), rule);
}

circuit::HtmlClassifier viewer_of_classifier(const Classifier& classifier,
                                             const circuit::Netlist& core) {
  const auto sources = classifier.thresholds.sources();
  const auto thresholds = classifier.thresholds.values().values<float>();
  circuit::HtmlClassifier viewer{.core = core,
                                 .head = classifier.head,
                                 .sources = {sources.begin(), sources.end()},
                                 .thresholds = {thresholds.begin(), thresholds.end()},
                                 .features = classifier.thresholds.features(),
                                 .has_bytes = classifier.has_bytes,
                                 .classes = classifier.format.classes,
                                 .channels = classifier.format.channels,
                                 .height = classifier.format.height,
                                 .width = classifier.format.width};
  for (const data::Column& column : classifier.format.columns) {
    viewer.columns.push_back({column.name, column.categories});
  }
  return viewer;
}

}  // namespace boolgrad
