#include "boolgrad/model/tasks.h"

#include "boolgrad/automata/starts.h"
#include "boolgrad/core/error.h"
#include "boolgrad/data/pattern.h"
#include "boolgrad/data/truth_table.h"

namespace boolgrad {

BooleanTask make_task(const ModelSpec& spec) {
  const TaskOptions& task = spec.task;
  if (task.kind == TaskKind::table) return read_truth_table(task.file, task.outputs);
  return boolean_task(task.kind, static_cast<int>(task.bits));
}

AutomatonTask make_automaton_task(const ModelSpec& spec) {
  const TaskOptions& task = spec.task;
  const AutomatonOptions& automaton = spec.automaton;
  if (task.kind == TaskKind::life) return life_task();
  const Pattern pattern = task.kind == TaskKind::checkerboard
                              ? checkerboard_pattern(automaton.height, automaton.width, task.square)
                          : task.file.ends_with(".txt")
                              ? read_bitmap(task.file)
                              : picture_pattern(task.file, automaton.height, automaton.width);
  const Shape& shape = pattern.bits.shape();
  if (shape[1] != automaton.height || shape[2] != automaton.width) {
    fail("target", "{}: expected {}x{} cells as the grid has, received {}x{}", task.file,
         automaton.height, automaton.width, shape[1], shape[2]);
  }
  if (shape[0] > automaton.channels) {
    fail("target", "expected at least {} channels in the automaton for the target, received {}",
         shape[0], automaton.channels);
  }
  return {pattern.bits.viewed_as({shape[0], 1, shape[1], shape[2]}), {}};
}

std::int64_t probe_count(const AutomatonOptions& options) {
  return options.start == StartKind::seed && options.fire_rate == 1 ? 1 : options.probes;
}

Tensor make_starts(const AutomatonTask& task, const AutomatonOptions& options,
                   const RolloutSize& size, std::uint64_t seed, std::uint32_t stream,
                   std::uint32_t draw) {
  if (task.starts.defined()) return task.starts;
  const Shape shape{options.channels, size.batch, size.height, size.width};
  return options.start == StartKind::seed ? seed_starts(shape)
                                          : random_starts(shape, seed, stream, draw);
}

bool starts_are_fixed(const AutomatonTask& task, const AutomatonOptions& options) {
  return task.starts.defined() || options.start == StartKind::seed;
}

}  // namespace boolgrad
