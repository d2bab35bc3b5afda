#include "boolgrad/train/automaton_learner.h"

#include <algorithm>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/text.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/train/automaton_evaluation.h"
#include "boolgrad/train/problem.h"
#include "boolgrad/train/streams.h"

namespace boolgrad {
namespace {

Memory memory_of(const Experiment& experiment, const Rule& rule, const RolloutSize& size) {
  const auto bytes = bytes_in(experiment.automaton.memory);
  if (experiment.automaton.memory.empty() || !bytes) return memory_choices(rule, size).front();
  return fitting_memory(rule, size, *bytes);
}

}  // namespace

AutomatonLearner::AutomatonLearner(const Experiment& experiment)
    : experiment_(experiment),
      task_(make_automaton_task(experiment)),
      rule_(make_rule(experiment)),
      memory_(memory_of(experiment, rule_, size())),
      target_(cast(task_.target, rule_.dtype())),
      hardening_(experiment.hardening) {}

RolloutSize AutomatonLearner::size() const {
  const std::int64_t batch =
      task_.starts.defined() ? task_.starts.shape()[1] : experiment_.automaton.batch;
  return {batch, task_.height(), task_.width(), experiment_.automaton.steps};
}

Tensor AutomatonLearner::loss_at(const Tensor& states) const {
  const Shape& shape = states.shape();
  const Tensor last =
      slice(reshape(states, {shape[1], shape[2], shape[3], shape[4]}), 0, 0, task_.channels());
  const Tensor target = add(target_, Tensor::zeros(last.shape(), last.dtype()));
  return loss_of(experiment_.training, last, target);
}

Tensor AutomatonLearner::loss(std::int64_t step) {
  const AutomatonOptions& options = experiment_.automaton;
  const auto seed = static_cast<std::uint64_t>(experiment_.seed);
  const auto draw = static_cast<std::uint32_t>(step);
  const RolloutSize now = size();
  const Tensor starts = make_starts(task_, options, now, seed, start_stream, draw);
  const Tensor fire = options.fire_rate < 1
                          ? fire_masks(now, options.fire_rate, seed, fire_stream, draw)
                          : Tensor();
  const std::vector<Tensor> tables = hardening_.applied(
      rule_.tables(), hardening_.share() > 0 ? rule_.hard_tables() : std::vector<Tensor>(), seed,
      draw);
  return loss_at(rollout(
      rule_, tables, cast(starts, rule_.dtype()), fire,
      {.steps = now.steps, .memory = memory_, .round = hardening_.rounding(now, seed, draw)}));
}

void AutomatonLearner::observe(double loss) {
  const RolloutSize now = size();
  const std::int64_t outputs = now.batch * task_.channels() * now.height * now.width;
  hardening_.observe(loss / static_cast<double>(outputs));
}

Evaluation AutomatonLearner::evaluate() const {
  const NoGrad off_the_tape;
  const AutomatonOptions& options = experiment_.automaton;
  const auto seed = static_cast<std::uint64_t>(experiment_.seed);
  RolloutSize probe = size();
  if (!task_.starts.defined()) probe.batch = probe_count(options);
  const Tensor starts = make_starts(task_, options, probe, seed, probe_stream, 0);
  const Tensor fire = options.fire_rate < 1
                          ? fire_masks(probe, options.fire_rate, seed, probe_fire_stream)
                          : Tensor();

  // Soft rollouts are dear: as many grids as a training step has.
  const std::int64_t few = std::min(size().batch, probe.batch);
  const Tensor soft =
      rollout(rule_, cast(slice(starts, 1, 0, few), rule_.dtype()),
              fire.defined() ? slice(fire, 1, 0, few) : Tensor(), {.steps = probe.steps});
  Evaluation result;
  result.soft_loss = loss_at(soft).item();
  const Shape& shape = soft.shape();
  const Tensor last = reshape(soft, {shape[1], shape[2], shape[3], shape[4]});
  result.soft_accuracy = compare(BitGrid::from(last), task_.target).accuracy();
  result.picture = slice(slice(last, 1, 0, 1), 0, 0, task_.channels());

  const GridMistakes hard = compare(hard_states(rule_, starts, fire, probe.steps), task_.target);
  result.hard_loss = static_cast<double>(hard.bits);
  result.hard_accuracy = hard.accuracy();
  result.bit_accuracy = hard.bit_accuracy();
  return result;
}

}  // namespace boolgrad
