#include "boolgrad/train/automaton_learner.h"

#include <algorithm>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/text.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/train/inspection.h"
#include "boolgrad/train/problem.h"
#include "boolgrad/train/streams.h"

namespace boolgrad {
namespace {

/// The sizes of the stage that step `step` belongs to.
AutomatonOptions stage_at(const Experiment& experiment, std::int64_t step) {
  AutomatonOptions sizes = experiment.automaton;
  const CurriculumOptions& curriculum = experiment.curriculum;
  const auto next = std::ranges::upper_bound(curriculum.until, step);
  if (next == curriculum.until.end()) return sizes;
  const auto stage = static_cast<std::size_t>(next - curriculum.until.begin());
  if (!curriculum.height.empty()) sizes.height = curriculum.height[stage];
  if (!curriculum.width.empty()) sizes.width = curriculum.width[stage];
  if (!curriculum.steps.empty()) sizes.steps = curriculum.steps[stage];
  if (!curriculum.batch.empty()) sizes.batch = curriculum.batch[stage];
  return sizes;
}

bool same_sizes(const AutomatonOptions& a, const AutomatonOptions& b) {
  return a.height == b.height && a.width == b.width && a.steps == b.steps && a.batch == b.batch;
}

AutomatonTask task_at(Experiment experiment, const AutomatonOptions& sizes) {
  experiment.automaton = sizes;
  return make_automaton_task(experiment);
}

RolloutSize size_of(const AutomatonTask& task, const AutomatonOptions& sizes) {
  const std::int64_t batch = task.starts.defined() ? task.starts.shape()[1] : sizes.batch;
  return {batch, task.height(), task.width(), sizes.steps};
}

Memory memory_of(const Experiment& experiment, const Rule& rule, const RolloutSize& size) {
  const auto bytes = bytes_in(experiment.automaton.memory);
  if (experiment.automaton.memory.empty() || !bytes) return memory_choices(rule, size).front();
  return fitting_memory(rule, size, *bytes);
}

}  // namespace

AutomatonLearner::AutomatonLearner(const Experiment& experiment)
    : experiment_(experiment),
      stage_(stage_at(experiment, 0)),
      task_(make_automaton_task(experiment)),
      stage_task_(task_at(experiment, stage_)),
      rule_(make_rule(experiment)),
      memory_(memory_of(experiment, rule_, size())),
      hardening_(experiment.hardening) {}

RolloutSize AutomatonLearner::size() const { return size_of(stage_task_, stage_); }

bool AutomatonLearner::enter(std::int64_t step) {
  const AutomatonOptions next = stage_at(experiment_, step);
  if (same_sizes(next, stage_)) return false;
  stage_ = next;
  stage_task_ = task_at(experiment_, stage_);
  memory_ = memory_of(experiment_, rule_, size());
  return true;
}

bool AutomatonLearner::trains_in_full() const { return same_sizes(stage_, experiment_.automaton); }

Tensor AutomatonLearner::loss_at(const Tensor& states, const AutomatonTask& task) const {
  const Shape& shape = states.shape();
  const Tensor last =
      slice(reshape(states, {shape[1], shape[2], shape[3], shape[4]}), 0, 0, task.channels());
  const Tensor target =
      add(cast(task.target, last.dtype()), Tensor::zeros(last.shape(), last.dtype()));
  return loss_of(experiment_.training, last, target);
}

Tensor AutomatonLearner::loss(std::int64_t step) {
  const AutomatonOptions& options = stage_;
  const auto seed = static_cast<std::uint64_t>(experiment_.seed);
  const auto draw = static_cast<std::uint32_t>(step);
  const RolloutSize now = size();
  const Tensor starts = make_starts(stage_task_, options, now, seed, start_stream, draw);
  const Tensor fire = options.fire_rate < 1
                          ? fire_masks(now, options.fire_rate, seed, fire_stream, draw)
                          : Tensor();
  const std::vector<Tensor> tables = hardening_.applied(
      rule_.tables(), hardening_.share() > 0 ? rule_.hard_tables() : std::vector<Tensor>(), seed,
      draw);
  return loss_at(
      rollout(
          rule_, tables, cast(starts, rule_.dtype()), fire,
          {.steps = now.steps, .memory = memory_, .round = hardening_.rounding(now, seed, draw)}),
      stage_task_);
}

void AutomatonLearner::observe(double loss) {
  const RolloutSize now = size();
  const std::int64_t outputs = now.batch * stage_task_.channels() * now.height * now.width;
  hardening_.observe(loss / static_cast<double>(outputs));
}

AutomatonLearner::Probe AutomatonLearner::probe() const {
  const AutomatonOptions& options = experiment_.automaton;
  const auto seed = static_cast<std::uint64_t>(experiment_.seed);
  Probe probe{.size = size_of(task_, options), .starts = {}, .fire = {}};
  if (!task_.starts.defined()) probe.size.batch = probe_count(options);
  probe.starts = make_starts(task_, options, probe.size, seed, probe_stream, 0);
  if (options.fire_rate < 1) {
    probe.fire = fire_masks(probe.size, options.fire_rate, seed, probe_fire_stream);
  }
  return probe;
}

GridMistakes AutomatonLearner::hard_mistakes(const Probe& probe) const {
  return compare(hard_states(rule_, probe.starts, probe.fire, probe.size.steps), task_.target);
}

double AutomatonLearner::hard_loss() const {
  const NoGrad off_the_tape;
  return static_cast<double>(hard_mistakes(probe()).bits);
}

std::vector<std::vector<bool>> AutomatonLearner::active_gates() const {
  return boolgrad::active_gates(rule_);
}

Evaluation AutomatonLearner::evaluate() const {
  const NoGrad off_the_tape;
  const Probe judged = probe();
  // Soft rollouts are dear: as many grids as a training step has.
  const std::int64_t few = std::min(size_of(task_, experiment_.automaton).batch, judged.size.batch);
  const Tensor soft = rollout(rule_, cast(slice(judged.starts, 1, 0, few), rule_.dtype()),
                              judged.fire.defined() ? slice(judged.fire, 1, 0, few) : Tensor(),
                              {.steps = judged.size.steps});
  Evaluation result;
  result.soft_loss = loss_at(soft, task_).item();
  const Shape& shape = soft.shape();
  const Tensor last = reshape(soft, {shape[1], shape[2], shape[3], shape[4]});
  result.soft_accuracy = compare(BitGrid::from(last), task_.target).accuracy();
  result.picture = slice(slice(last, 1, 0, 1), 0, 0, task_.channels());

  const GridMistakes hard = hard_mistakes(judged);
  result.hard_loss = static_cast<double>(hard.bits);
  result.hard_accuracy = hard.accuracy();
  result.bit_accuracy = hard.bit_accuracy();
  return result;
}

}  // namespace boolgrad
