#include "boolgrad/model/tasks.h"

#include "boolgrad/automata/starts.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/data/pattern.h"
#include "boolgrad/data/truth_table.h"

namespace boolgrad {

data::BooleanTask make_task(const ModelSpec& spec) {
  const TaskOptions& task = spec.task;
  if (task.kind == data::TaskKind::table) return data::read_truth_table(task.file, task.outputs);
  return data::boolean_task(task.kind, static_cast<int>(task.bits));
}

data::AutomatonTask make_automaton_task(const ModelSpec& spec) {
  const TaskOptions& task = spec.task;
  const AutomatonOptions& automaton = spec.automaton;
  if (task.kind == data::TaskKind::life) return data::life_task();
  const data::Pattern pattern =
      task.kind == data::TaskKind::checkerboard
          ? data::checkerboard_pattern(automaton.height, automaton.width, task.square)
      : task.file.ends_with(".txt")
          ? data::read_bitmap(task.file)
          : data::picture_pattern(task.file, automaton.height, automaton.width);
  const Shape& shape = pattern.bits.shape();
  if (shape[1] != automaton.height || shape[2] != automaton.width) {
    fail("target", "{}: expected {}x{} cells, the size of the grid, received {}x{}", task.file,
         automaton.height, automaton.width, shape[1], shape[2]);
  }
  if (shape[0] > automaton.channels) {
    fail("target", "expected an automaton of at least {} channels for this target, received {}",
         shape[0], automaton.channels);
  }
  return {pattern.bits.viewed_as({shape[0], 1, shape[1], shape[2]}), {}};
}

std::int64_t evaluation_start_count(const AutomatonOptions& options) {
  const bool all_equal = options.start == StartKind::seed && options.fire_rate == 1;
  return all_equal ? 1 : options.evaluation_starts;
}

Tensor make_starts(const data::AutomatonTask& task, const AutomatonOptions& options,
                   const automata::RolloutSize& size, std::uint64_t seed, std::uint32_t stream,
                   std::uint32_t draw) {
  if (task.starts.defined()) return task.starts;
  const Shape shape{options.channels, size.batch, size.height, size.width};
  return options.start == StartKind::seed ? automata::seed_starts(shape)
                                          : automata::random_starts(shape, seed, stream, draw);
}

bool starts_are_fixed(const data::AutomatonTask& task, const AutomatonOptions& options) {
  return task.starts.defined() || options.start == StartKind::seed;
}

}  // namespace boolgrad
