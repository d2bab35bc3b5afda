#include "boolgrad/train/learners/automaton_learner.h"

#include <algorithm>
#include <utility>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/automata/trial_rollout.h"
#include "boolgrad/core/error.h"
#include "boolgrad/core/random.h"
#include "boolgrad/core/text.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/reduction.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/train/learners/problem.h"
#include "boolgrad/core/random_streams.h"

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

/// The task of a stage. In fewer steps than it has in the end, what grows from a seed gets less
/// far.
AutomatonTask task_at(Experiment experiment, const AutomatonOptions& sizes) {
  const std::int64_t steps = experiment.automaton.steps;
  experiment.automaton = sizes;
  AutomatonTask task = make_automaton_task(experiment);
  if (sizes.start == StartKind::seed && sizes.steps < steps) {
    task.target =
        grown_part(task.target, static_cast<double>(sizes.steps) / static_cast<double>(steps));
  }
  return task;
}

RolloutSize size_of(const AutomatonTask& task, const AutomatonOptions& sizes) {
  const std::int64_t batch = task.starts.defined() ? task.starts.shape()[1] : sizes.batch;
  return {batch, task.height(), task.width(), sizes.steps};
}

constexpr const char* pool_name = "pool";

/// Of values that trials may keep; where there would be more, the whole rule is looked at instead.
constexpr std::size_t most_trial_bytes = std::size_t{256} << 20;

class RolloutTrials : public HardTrials {
 public:
  explicit RolloutTrials(TrialRollout rollout) : rollout_(std::move(rollout)) {}

  double wrong_bits() const override { return static_cast<double>(rollout_.wrong_bits()); }
  double wrong_bits_with(std::size_t layer, std::int64_t gate, std::uint64_t table) override {
    return static_cast<double>(rollout_.wrong_bits_with(layer, gate, static_cast<unsigned>(table)));
  }
  void keep() override { rollout_.keep(); }

 private:
  TrialRollout rollout_;
};

/// How much gates depend on both their inputs, summed: of a table t over inputs a and b, the mean
/// square of its change with a, times that with b. 0 for constants, wires and inverters, 1/4 for
/// AND and its like, 1 for XOR.
Tensor two_input_gates(const std::vector<Tensor>& tables) {
  Tensor total;
  for (const Tensor& table : tables) {
    const auto change = [&](std::int64_t from, std::int64_t to) {
      const Tensor difference =
          subtract(slice(table, 1, to, to + 1), slice(table, 1, from, from + 1));
      return scale(multiply(difference, difference), 0.5);
    };
    const Tensor with_a = add(change(0, 1), change(2, 3));
    const Tensor with_b = add(change(0, 2), change(1, 3));
    const Tensor gates = sum(multiply(with_a, with_b));
    total = total.defined() ? add(total, gates) : gates;
  }
  return total;
}

double training_fire_rate(const AutomatonOptions& options) {
  return options.training_fire_rate > 0 ? options.training_fire_rate : options.fire_rate;
}

/// One grid of a batch [channels, grids, height, width] of bits into another.
void copy_grid(const Tensor& from, std::int64_t from_item, Tensor& to, std::int64_t to_item) {
  const Shape& shape = from.shape();
  const auto cells = static_cast<std::size_t>(shape[2] * shape[3]);
  const std::span<const std::uint8_t> source = from.values<std::uint8_t>();
  const std::span<std::uint8_t> target = to.mutable_values<std::uint8_t>();
  for (std::int64_t c = 0; c < shape[0]; ++c) {
    const auto at = static_cast<std::size_t>(c * shape[1] + from_item) * cells;
    const auto place = static_cast<std::size_t>(c * to.shape()[1] + to_item) * cells;
    std::ranges::copy(source.subspan(at, cells), target.subspan(place, cells).begin());
  }
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

/// Of all states that are given.
Tensor AutomatonLearner::loss_at(const Tensor& states, const AutomatonTask& task) const {
  const Tensor shown = slice(states, 1, 0, task.channels());
  const Tensor target =
      add(cast(task.target, shown.dtype()), Tensor::zeros(shown.shape(), shown.dtype()));
  return loss_of(experiment_.training, shown, target);
}

Tensor AutomatonLearner::loss(std::int64_t step) {
  const auto seed = static_cast<std::uint64_t>(experiment_.seed);
  const auto draw = static_cast<std::uint32_t>(step);
  RolloutSize now = size();
  now.steps +=
      static_cast<std::int64_t>(random_below({.seed = seed, .stream = length_stream, .step = draw},
                                             static_cast<std::uint64_t>(stage_.extra_steps) + 1));
  const double fire_rate = training_fire_rate(stage_);
  const Tensor fire =
      fire_rate < 1 ? fire_masks(now, fire_rate, seed, fire_stream, draw) : Tensor();
  const Tensor states = rollout(rule_, step_tables(seed, draw),
                                cast(step_starts(now, seed, draw), rule_.dtype()), fire,
                                {.steps = now.steps,
                                 .returned = std::min(stage_.loss_steps, now.steps),
                                 .memory = memory_,
                                 .round = hardening_.rounding(now, seed, draw)});
  if (uses_pool()) return_to_pool(states);
  const Tensor loss = loss_at(states, stage_task_);
  const double penalty = experiment_.training.gate_penalty;
  return penalty > 0 ? add(loss, scale(two_input_gates(rule_.tables()), penalty)) : loss;
}

std::vector<Tensor> AutomatonLearner::step_tables(std::uint64_t seed, std::uint32_t draw) const {
  std::vector<Tensor> tables;
  if (hardening_.changes_logits()) {
    for (const Tensor& logits :
         hardening_.logits(rule_.parameters(), parametrisation(), seed, draw)) {
      tables.push_back(soft_tables(parametrisation(), logits));
    }
  } else {
    tables = rule_.tables();
  }
  return hardening_.applied(
      tables, hardening_.share() > 0 ? rule_.hard_tables() : std::vector<Tensor>(), seed, draw);
}

/// Fresh starts; in the second half of the batch, states of the pool instead.
Tensor AutomatonLearner::step_starts(const RolloutSize& size, std::uint64_t seed,
                                     std::uint32_t draw) {
  Tensor starts = make_starts(stage_task_, stage_, size, seed, start_stream, draw);
  if (!uses_pool()) return starts;
  const std::int64_t places = experiment_.automaton.pool;
  const Shape shape{rule_.channels(), places, size.height, size.width};
  if (!pool_.defined() || pool_.shape() != shape) {
    RolloutSize all = size;
    all.batch = places;
    pool_ = make_starts(stage_task_, stage_, all, seed, pool_stream, 0).clone();
  }
  const auto first = static_cast<std::int64_t>(
      random_below({.seed = seed, .stream = pool_place_stream, .step = draw},
                   static_cast<std::uint64_t>(places)));
  starts = starts.clone();
  drawn_.clear();
  for (std::int64_t item = 0; item < size.batch; ++item) {
    drawn_.push_back((first + item) % places);
    if (item >= (size.batch + 1) / 2) copy_grid(pool_, drawn_.back(), starts, item);
  }
  return starts;
}

void AutomatonLearner::return_to_pool(const Tensor& states) {
  const Shape& shape = states.shape();
  const Tensor last = slice(states.detach(), 0, shape[0] - 1, shape[0]);
  const Tensor bits = BitGrid::from(reshape(last, {shape[1], shape[2], shape[3], shape[4]}))
                          .to_tensor(DType::uint8);
  for (std::size_t item = 0; item < drawn_.size(); ++item) {
    copy_grid(bits, static_cast<std::int64_t>(item), pool_, drawn_[item]);
  }
}

void AutomatonLearner::save_progress(TensorFile& file) const {
  hardening_.save(file);
  if (pool_.defined()) file.tensors[pool_name] = pool_.clone();
}

void AutomatonLearner::load_progress(const TensorFile& file) {
  hardening_.load(file);
  const auto found = file.tensors.find(pool_name);
  if (found == file.tensors.end() || !uses_pool()) return;
  const Shape& shape = found->second.shape();
  if (found->second.dtype() != DType::uint8 || shape.size() != 4 || shape[0] != rule_.channels() ||
      shape[1] != experiment_.automaton.pool) {
    fail("resume", "expected a pool of {} states of {} channels, received another",
         experiment_.automaton.pool, rule_.channels());
  }
  pool_ = found->second.clone();
}

void AutomatonLearner::observe(double loss) {
  const RolloutSize now = size();
  const std::int64_t outputs =
      stage_.loss_steps * now.batch * stage_task_.channels() * now.height * now.width;
  hardening_.observe(loss / static_cast<double>(outputs));
}

AutomatonLearner::Probe AutomatonLearner::make_probe() const {
  const AutomatonOptions& options = experiment_.automaton;
  const auto seed = static_cast<std::uint64_t>(experiment_.seed);
  RolloutSize size = size_of(task_, options);
  const std::int64_t batch = size.batch;
  if (!task_.starts.defined()) size.batch = probe_count(options);
  // Soft rollouts are dear: as many grids as a training step has.
  const std::int64_t few = std::min(batch, size.batch);
  const Tensor starts = make_starts(task_, options, size, seed, probe_stream, 0);
  Probe probe{.size = size,
              .soft_starts = cast(slice(starts, 1, 0, few), rule_.dtype()),
              .soft_fire = {},
              .starts = BitGrid::from(starts),
              .fire = {}};
  if (options.fire_rate == 1) return probe;
  const Tensor fire = fire_masks(size, options.fire_rate, seed, probe_fire_stream);
  probe.soft_fire = slice(fire, 1, 0, few);
  for (std::int64_t step = 0; step < size.steps; ++step) {
    probe.fire.push_back(BitGrid::from(slice(fire, 0, step, step + 1)));
  }
  return probe;
}

const AutomatonLearner::Probe& AutomatonLearner::probe() const {
  if (!probe_) probe_ = make_probe();
  return *probe_;
}

GridMistakes AutomatonLearner::hard_mistakes(const Probe& probe) const {
  return compare(hard_states(rule_, probe.starts, probe.fire, probe.size.steps), task_.target);
}

double AutomatonLearner::hard_loss() const {
  const NoGrad off_the_tape;
  return static_cast<double>(hard_mistakes(probe()).bits);
}

std::unique_ptr<HardTrials> AutomatonLearner::trials() const {
  const Probe& judged = probe();
  if (TrialRollout::bytes(rule_, judged.starts, judged.size.steps) > most_trial_bytes) {
    return Learner::trials();
  }
  return std::make_unique<RolloutTrials>(
      TrialRollout(rule_, judged.starts, judged.fire, judged.size.steps, task_.target));
}

std::vector<std::vector<bool>> AutomatonLearner::active_gates() const {
  return boolgrad::active_gates(rule_);
}

Evaluation AutomatonLearner::evaluate() const {
  const NoGrad off_the_tape;
  const Probe& judged = probe();
  const Tensor soft =
      rollout(rule_, judged.soft_starts, judged.soft_fire, {.steps = judged.size.steps});
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
