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

data::CellRule cell_rule_of(const ModelSpec& spec) {
  const TaskOptions& task = spec.task;
  if (task.kind == data::TaskKind::life) return data::conways_rule();
  if (task.kind != data::TaskKind::rule) {
    fail("rule", "expected an automaton that learns a rule, received {}", to_string(task.kind));
  }
  if (!task.examples.empty()) return data::read_examples(task.examples);
  if (task.rule.empty()) {
    fail("rule", "expected a rule, such as --rule B36/S23, or --examples FILE, received neither");
  }
  return data::parse_cell_rule(task.rule);
}

namespace {

data::AutomatonTask rule_task(const ModelSpec& spec) {
  if (spec.task.kind == data::TaskKind::life) return data::life_task();
  const data::CellRule rule = cell_rule_of(spec);
  if (rule.channels() != spec.automaton.channels) {
    fail("rule", "expected automaton.channels = {} for {}, which has {} states, received {}",
         rule.channels(), rule.name(), rule.states(), spec.automaton.channels);
  }
  return data::rule_task(rule, data::Tori::distinct, spec.automaton.batch);
}

}  // namespace

data::Pattern pattern_of(const ModelSpec& spec) {
  const TaskOptions& task = spec.task;
  const AutomatonOptions& automaton = spec.automaton;
  if (task.kind == data::TaskKind::checkerboard) {
    return data::checkerboard_pattern(automaton.height, automaton.width, task.square);
  }
  if (task.kind != data::TaskKind::picture) {
    fail("target", "expected an automaton with a target state, received {}", to_string(task.kind));
  }
  if (task.file.empty()) {
    fail("target", "expected a picture, such as --target heart.png, received none");
  }
  if (task.file.ends_with(".txt")) return data::read_bitmap(task.file);
  return task.max_side > 0 ? data::fitted_pattern(task.file, task.max_side)
                           : data::picture_pattern(task.file, automaton.height, automaton.width);
}

data::AutomatonTask make_automaton_task(const ModelSpec& spec) {
  if (spec.learns_rule()) return rule_task(spec);
  const TaskOptions& task = spec.task;
  const AutomatonOptions& automaton = spec.automaton;
  const data::Pattern pattern = pattern_of(spec);
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
