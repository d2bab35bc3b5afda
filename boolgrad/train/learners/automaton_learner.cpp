#include "boolgrad/train/learners/automaton_learner.h"

#include <algorithm>
#include <utility>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/automata/edited_rollout.h"
#include "boolgrad/automata/grid_errors.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/random.h"
#include "boolgrad/core/random_streams.h"
#include "boolgrad/core/text.h"
#include "boolgrad/logic/host_network.h"
#include "boolgrad/model/device_evaluation.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/train/learners/blockwise_program.h"
#include "boolgrad/train/learners/initial_model.h"

namespace boolgrad::train {
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

/// The task of a stage. If it has fewer steps than the last one, a pattern that grows from a seed
/// is cut accordingly.
data::AutomatonTask task_at(ModelSpec spec, const AutomatonOptions& sizes) {
  const std::int64_t steps = spec.automaton.steps;
  spec.automaton = sizes;
  data::AutomatonTask task = make_automaton_task(spec);
  if (sizes.start == StartKind::seed && sizes.steps < steps) {
    task.target = data::grown_part(task.target,
                                   static_cast<double>(sizes.steps) / static_cast<double>(steps));
  }
  return task;
}

constexpr const char* pool_name = "pool";

/// Memory limit of incremental evaluation. Beyond it, the whole rule is evaluated for every move.
constexpr std::size_t max_evaluator_bytes = std::size_t{256} << 20;

class RolloutEvaluator : public MoveEvaluator {
 public:
  explicit RolloutEvaluator(automata::EditedRollout rollout) : rollout_(std::move(rollout)) {}

  double errors() const override { return static_cast<double>(rollout_.errors()); }
  double errors_with(std::size_t layer, std::int64_t gate, std::uint64_t table) override {
    return static_cast<double>(rollout_.errors_with(layer, gate, static_cast<unsigned>(table)));
  }
  void accept() override { rollout_.keep(); }

 private:
  automata::EditedRollout rollout_;
};

/// Copies one grid of a batch of bits [channels, grids, height, width] into another batch.
void copy_grid(const Tensor& from, std::int64_t from_item, Tensor& to, std::int64_t to_item) {
  const Shape& shape = from.shape();
  const auto cells = static_cast<std::size_t>(shape[2] * shape[3]);
  const std::span<const std::uint8_t> source = from.values<std::uint8_t>();
  const std::span<std::uint8_t> target = to.mutable_values<std::uint8_t>();
  for (std::int64_t c = 0; c < shape[0]; ++c) {
    const auto from_offset = static_cast<std::size_t>(c * shape[1] + from_item) * cells;
    const auto to_offset = static_cast<std::size_t>(c * to.shape()[1] + to_item) * cells;
    std::ranges::copy(source.subspan(from_offset, cells), target.subspan(to_offset, cells).begin());
  }
}

Memory memory_of(const Experiment& experiment, const automata::Rule& rule,
                 const automata::RolloutSize& size) {
  const std::string& limit = experiment.rollout.memory;
  const auto bytes = parse_bytes(limit);
  if (limit.empty() || !bytes) return automata::memory_choices(rule, size).front();
  return automata::fitting_memory(rule, size, *bytes);
}

}  // namespace

TrainingMemory training_memory(const Experiment& experiment, const automata::Rule& rule) {
  const AutomatonOptions stage = stage_at(experiment, 0);
  const automata::RolloutSize size = rollout_size(task_at(experiment, stage), stage);
  return {memory_of(experiment, rule, size), size};
}

AutomatonLearner::AutomatonLearner(const Experiment& experiment, const Device& device, Group& group)
    : Learner(experiment, device, group, Model(make_rule(experiment))),
      stage_(stage_at(experiment, 0)),
      task_(make_automaton_task(experiment)),
      stage_task_(task_at(experiment, stage_)) {
  make_program();
}

bool AutomatonLearner::trains_in_full() const { return same_sizes(stage_, experiment_.automaton); }

automata::AutomatonSpec AutomatonLearner::spec_for(const automata::RolloutSize& size,
                                                   const data::AutomatonTask& task) const {
  const RolloutTraining& rollout = experiment_.rollout;
  // Other devices choose the fastest policy that fits into their memory, unless there is a limit.
  const bool has_policy = !rollout.memory.empty() || device_.is_cpu();
  return {.size = size,
          .extra_steps = rollout.extra_steps,
          .loss_channels = task.channels(),
          .loss_steps = loss_steps(),
          .loss = experiment_.loss,
          .gate_penalty = experiment_.training.gate_penalty,
          .memory = has_policy ? std::optional(memory_) : std::nullopt,
          .optimiser = optimiser_options()};
}

void AutomatonLearner::make_program() {
  memory_ = memory_of(experiment_, model_.rule(), size());
  const automata::AutomatonSpec spec = spec_for(size(), stage_task_);
  if (splits_batch()) {
    const Blocks blocks(group_, experiment_.training.blocks, spec.size.batch);
    automata::AutomatonSpec of_block = spec;
    of_block.size.batch = blocks.samples();
    of_block.gate_penalty /= static_cast<double>(blocks.count());  // each of them adds it
    program_ =
        make_blockwise_automaton(automata::make_automaton_program(device_, model_.rule(), of_block),
                                 blocks, spec, model_.rule().channels());
    program_->set_parameters(logic::detached(model_.parameters()), model_.masks());
  } else {
    program_ = automata::make_automaton_program(device_, model_.rule(), spec);
  }
  AutomatonInputs inputs{{}, {}, stage_task_.target};
  if (samples_tori()) {
    inputs = sampled_tori(0);
  } else if (starts_are_fixed(stage_task_, stage_)) {
    inputs.starts = make_starts(stage_task_, stage_, size(), seed(), start_stream, 0);
  }
  program_->set_inputs(inputs);
  evaluator_.reset();
}

void AutomatonLearner::enter(std::int64_t step) {
  const AutomatonOptions next = stage_at(experiment_, step);
  if (same_sizes(next, stage_)) return;
  const AdamWState moments = Learner::moments();
  read_back();
  stage_ = next;
  stage_task_ = task_at(experiment_, stage_);
  make_program();
  load(moments);
}

void AutomatonLearner::load(const AdamWState& moments) {
  program_->set_parameters(logic::detached(model_.parameters()), model_.masks());
  program_->set_moments(moments.first, moments.second);
  updates_ = moments.step;
}

RolloutArguments AutomatonLearner::draws(std::int64_t step) {
  const auto draw = static_cast<std::uint32_t>(step);
  const RolloutTraining& rollout = experiment_.rollout;
  const bool from_pool = uses_pool();
  if (from_pool) program_->set_inputs({pool_starts(step), {}, {}});
  if (samples_tori()) program_->set_inputs(sampled_tori(step));
  frozen_ = frozen_gates();
  const auto extra = static_cast<std::int64_t>(
      random_below({.seed = seed(), .stream = length_stream, .step = draw},
                   static_cast<std::uint64_t>(rollout.extra_steps) + 1));
  return {.seed = seed(),
          .random_step = draw,
          .random_starts = !from_pool && !starts_are_fixed(stage_task_, stage_),
          .start_stream = start_stream,
          .fire_rate = rollout.fire_rate > 0 ? rollout.fire_rate : stage_.fire_rate,
          .fire_stream = fire_stream,
          .steps = stage_.steps + stage_.stay_steps + extra,
          .hardening = hardening_step(step),
          .frozen = frozen_};
}

StepResult AutomatonLearner::take_step(std::int64_t step, double learning_rate) {
  enter(step);
  const AutomatonOutcome outcome = program_->step(draws(step), step, learning_rate, false);
  if (uses_pool()) return_to_pool();
  return {.loss = outcome.loss, .finite = outcome.finite};
}

std::vector<Tensor> AutomatonLearner::gradients(std::int64_t step) {
  program_->gradients(draws(step));
  return program_->parameter_gradients();
}

double AutomatonLearner::loss_terms() const {
  const automata::RolloutSize now = size();
  return static_cast<double>(loss_steps() * now.batch * stage_task_.channels() * now.height *
                             now.width);
}

AutomatonInputs AutomatonLearner::sampled_tori(std::int64_t step) {
  const Tensor& starts = stage_task_.starts;
  if (!tori_) tori_.emplace(starts.shape()[1], stage_task_.batch, seed());
  const std::vector<std::int64_t> picked = tori_->picked(step);
  Shape shape = starts.shape();
  shape[1] = stage_task_.batch;
  AutomatonInputs inputs{Tensor(shape, DType::uint8), {}, Tensor(shape, DType::uint8)};
  for (std::size_t item = 0; item < picked.size(); ++item) {
    copy_grid(starts, picked[item], inputs.starts, static_cast<std::int64_t>(item));
    copy_grid(stage_task_.target, picked[item], inputs.target, static_cast<std::int64_t>(item));
  }
  return inputs;
}

Tensor AutomatonLearner::pool_starts(std::int64_t step) {
  const auto draw = static_cast<std::uint32_t>(step);
  const automata::RolloutSize now = size();
  const std::int64_t slots = experiment_.rollout.pool;
  const Shape shape{model_.rule().channels(), slots, now.height, now.width};
  if (!pool_.defined() || pool_.shape() != shape) {
    automata::RolloutSize all = now;
    all.batch = slots;
    pool_ = make_starts(stage_task_, stage_, all, seed(), pool_stream, 0).clone();
  }
  const auto first = static_cast<std::int64_t>(
      random_below({.seed = seed(), .stream = pool_choice_stream, .step = draw},
                   static_cast<std::uint64_t>(slots)));
  Tensor starts = make_starts(stage_task_, stage_, now, seed(), start_stream, draw).clone();
  pool_slots_.clear();
  for (std::int64_t item = 0; item < now.batch; ++item) {
    pool_slots_.push_back((first + item) % slots);
    if (item >= (now.batch + 1) / 2) copy_grid(pool_, pool_slots_.back(), starts, item);
  }
  return starts;
}

void AutomatonLearner::return_to_pool() {
  const Tensor bits = automata::BitGrid::from(program_->final_state()).to_tensor(DType::uint8);
  for (std::size_t item = 0; item < pool_slots_.size(); ++item) {
    copy_grid(bits, static_cast<std::int64_t>(item), pool_, pool_slots_[item]);
  }
}

void AutomatonLearner::save_progress(TensorFile& file) const {
  Learner::save_progress(file);
  if (pool_.defined()) file.tensors[pool_name] = pool_.clone();
}

void AutomatonLearner::load_progress(const TensorFile& file) {
  Learner::load_progress(file);
  const auto found = file.tensors.find(pool_name);
  if (found == file.tensors.end() || !uses_pool()) return;
  const Shape& shape = found->second.shape();
  const std::int64_t channels = model_.rule().channels();
  if (found->second.dtype() != DType::uint8 || shape.size() != 4 || shape[0] != channels ||
      shape[1] != experiment_.rollout.pool) {
    fail("resume", "expected a pool of {} states of {} channels, received {} {}",
         experiment_.rollout.pool, channels, to_string(found->second.dtype()), to_string(shape));
  }
  pool_ = found->second.clone();
}

Evaluation AutomatonLearner::evaluate() {
  Evaluation evaluation = evaluate_program();
  if (experiment_.automaton.stay_steps == 0) return evaluation;
  // The program compares the last state only.
  read_back();
  set_errors(evaluation, hard_errors());
  return evaluation;
}

Evaluation AutomatonLearner::evaluate_program() {
  if (trains_in_full()) return boolgrad::evaluate(*program_, experiment_, task_);
  // The program has other grids. Use the CPU, where making a program costs nothing.
  if (!evaluator_) {
    evaluator_ = automata::make_host_automaton(model_.rule(),
                                               {.size = rollout_size(task_, experiment_.automaton),
                                                .loss_channels = task_.channels(),
                                                .loss = experiment_.loss});
  }
  evaluator_->set_parameters(program_->parameters(), model_.masks());
  return boolgrad::evaluate(*evaluator_, experiment_, task_);
}

const EvaluationStarts& AutomatonLearner::starts() const {
  if (!evaluation_starts_) evaluation_starts_.emplace(evaluation_starts(experiment_, task_));
  return *evaluation_starts_;
}

automata::GridErrors AutomatonLearner::hard_errors() const {
  const NoGrad off_the_tape;
  return errors_from(starts(), model_.rule(), experiment_, task_);
}

double AutomatonLearner::hard_loss() const { return static_cast<double>(hard_errors().bits); }

std::unique_ptr<MoveEvaluator> AutomatonLearner::move_evaluator() const {
  const EvaluationStarts& on = starts();
  const automata::Rule& rule = model_.rule();
  if (automata::has_any_value(task_.target) ||
      automata::EditedRollout::bytes(rule, on.starts, on.size.steps) > max_evaluator_bytes) {
    return Learner::move_evaluator();
  }
  return std::make_unique<RolloutEvaluator>(automata::EditedRollout(
      rule, on.starts, on.fire, on.size.steps, task_.target, experiment_.automaton.stay_steps + 1));
}

}  // namespace boolgrad::train
