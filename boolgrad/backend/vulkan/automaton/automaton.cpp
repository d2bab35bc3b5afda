#include "boolgrad/backend/vulkan/automaton/automaton.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "boolgrad/backend/vulkan/automaton/program.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"

namespace boolgrad::vulkan {

class Automaton final : public DeviceAutomaton {
 public:
  Automaton(int number, const AutomatonShape& shape, const AdamWOptions& options);
  ~Automaton() override;

  void set_parameters(std::span<const Tensor> logits, std::span<const Tensor> masks) override;
  std::vector<Tensor> parameters() const override;
  void set_moments(std::span<const Tensor> first, std::span<const Tensor> second) override;
  std::vector<Tensor> first_moments() const override;
  std::vector<Tensor> second_moments() const override;
  void set_inputs(const AutomatonInputs& inputs) override;
  double gradients(const RolloutArguments& draws) override;
  std::vector<Tensor> parameter_gradients() const override;
  Tensor states() const override;
  Tensor final_state() const override;
  AutomatonOutcome step(const RolloutArguments& draws, std::int64_t step, double learning_rate,
                        bool with_hard) override;
  double soft_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                      const RolloutArguments& draws, Tensor& last) override;
  HardErrors hard_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                          const RolloutArguments& draws) override;
  Tensor hard_state() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

bool can_keep_activations(int number, const AutomatonShape& shape) {
  const Context& context = Context::get(number);
  const AutomatonLimits limits = limits_of(context.physical());
  return buffers_are_allowed(limits, shape) &&
         training_bytes(limits, shape) <= context.free_memory() / 2;
}

std::size_t training_bytes(int number, const AutomatonShape& shape) {
  return training_bytes(limits_of(Context::get(number).physical()), shape);
}

namespace {

const AutomatonShape& checked(const Context& context, const AutomatonShape& shape) {
  const AutomatonLimits limits = limits_of(context.physical());
  check_grid_size("vulkan", shape);
  check_training_memory("vulkan", shape, context.free_memory(),
                        [&](const AutomatonShape& other) { return training_bytes(limits, other); });
  if (!buffers_are_allowed(limits, shape)) {
    fail("vulkan",
         "expected a grid, number of steps and memory policy that need no buffer above {} on this "
         "device",
         bytes_text(limits.buffer_bytes));
  }
  return shape;
}

/// What is recorded: gradients only; a step with update; or a step with update and a concurrent
/// hard rollout.
enum class Kind : std::uint8_t { gradients, step, step_with_hard };

/// Commands depend on the number of steps and on how tables are hardened.
using RecorderKey = std::tuple<Kind, int, HardeningKind>;

}  // namespace

struct Automaton::State {
  Context& context;
  OwnedShape owned;
  const AutomatonShape& shape = owned.get();
  AdamWOptions options;
  AutomatonParameters parameters;
  std::vector<float> frozen;  ///< as on the device
  std::optional<AutomatonProgram> training;
  std::map<std::pair<RolloutUse, std::int64_t>, AutomatonProgram> rollouts;
  AutomatonProgram* last_hard = nullptr;
  AutomatonInputs inputs;                           ///< inputs of training
  std::optional<AutomatonProgram> concurrent_hard;  ///< hard rollout from the same start states
  std::map<RecorderKey, CommandRecorder> recorders;

  State(int number, const AutomatonShape& given, const AdamWOptions& how)
      : context(Context::get(number)),
        owned(checked(context, given)),
        options(how),
        frozen(owned.gates()) {
    const std::size_t count =
        owned.gates() * static_cast<std::size_t>(logit_count(shape.parametrisation, 2));
    parameters.values = {context, count};
    parameters.gradients = {context, count};
    std::vector<float> masks(2 * owned.gates());
    std::fill_n(masks.begin(), owned.gates(), 1.F);
    parameters.masks = {context, masks};
    parameters.moments = {context, 2 * count};
    parameters.moments.clear();
    const std::vector<std::uint32_t> none(2);
    parameters.waiting = {context, none};
    parameters.concurrent_waiting = {context, none};
    training.emplace(context, shape, RolloutUse::training, shape.batch, parameters);
  }

  AutomatonProgram& make_concurrent_hard() {
    if (!concurrent_hard) {
      concurrent_hard.emplace(context, shape, RolloutUse::hard, shape.batch, parameters);
      static_cast<void>(concurrent_hard->set_inputs(inputs));
    }
    return *concurrent_hard;
  }

  void set_inputs(const AutomatonInputs& given) {
    take_over(inputs, given);
    bool must_record = training->set_inputs(given);
    if (concurrent_hard) must_record = concurrent_hard->set_inputs(given) || must_record;
    if (must_record) recorders.clear();
  }

  void set_frozen(std::span<const Tensor> given) {
    std::vector<float> wanted = flat(given);
    if (wanted.size() != frozen.size()) {
      fail("vulkan", "expected frozen flags of {} gates, received {}", frozen.size(),
           wanted.size());
    }
    if (wanted == frozen) return;
    frozen = std::move(wanted);
    parameters.masks.upload(frozen, frozen.size());
  }

  /// Arguments of the next training rollout.
  void set_draws(const RolloutArguments& draws) {
    training->set_draws(draws);
    if (training->hardening() == HardeningKind::freeze) set_frozen(draws.frozen);
  }

  /// Records the steps of `programs` concurrently, with one barrier for all.
  static void record_rollout(CommandRecorder& to,
                             std::initializer_list<const AutomatonProgram*> programs) {
    int steps = 0;
    for (const AutomatonProgram* program : programs) {
      program->prepare(to);
      steps = std::max(steps, program->steps());
    }
    to.barrier();
    for (int step = 0; step < steps; ++step) {
      for (const AutomatonProgram* program : programs) {
        if (step < program->steps()) program->forward(to, step);
      }
      to.barrier();
      for (const AutomatonProgram* program : programs) {
        if (step >= program->steps() || !program->has_score(step)) continue;
        program->score(to, step);
        if (step + 1 < steps) to.barrier();
      }
    }
  }

  /// The same with all steps of a program in one dispatch, and the backward pass for training. The
  /// hard rollout comes first: it has few workgroups, and none of them waits for another to finish.
  void record_all_steps(CommandRecorder& to, bool with_hard) {
    training->prepare(to);
    if (with_hard) concurrent_hard->prepare(to);
    to.barrier();
    if (with_hard) concurrent_hard->all_steps(to);
    training->all_steps(to);
    to.barrier();
    for (int step = 0; step < training->steps(); ++step) {
      if (!training->has_score(step)) continue;
      training->score(to, step);
      if (step + 1 < training->steps()) to.barrier();
    }
    if (with_hard) concurrent_hard->score(to, concurrent_hard->steps() - 1);
  }

  /// Runs the recorded commands. If workgroups gave up waiting for each other, runs again step by
  /// step.
  void run(Kind kind) {
    recorded(kind).run();
    const bool with_hard = kind == Kind::step_with_hard;
    if (!training->gave_up() && !(with_hard && concurrent_hard->gave_up())) return;
    context.set_groups_wait(false);
    recorders.clear();
    recorded(kind).run();
  }

  CommandRecorder& recorded(Kind kind) {
    const RecorderKey key{kind, training->steps(), training->hardening()};
    const auto [found, is_new] = recorders.try_emplace(key, context);
    CommandRecorder& commands = found->second;
    if (!is_new) return commands;
    const bool with_hard = kind == Kind::step_with_hard;
    if (with_hard) make_concurrent_hard();
    if (training->takes_all_steps() && (!with_hard || concurrent_hard->takes_all_steps())) {
      record_all_steps(commands, with_hard);
    } else {
      if (with_hard) record_rollout(commands, {&*training, &*concurrent_hard});
      else record_rollout(commands, {&*training});
      training->backward(commands);
    }
    training->gather(commands);
    commands.barrier();
    training->finish(commands);
    if (kind == Kind::gradients) return commands;
    commands.barrier();
    training->update(commands);
    return commands;
  }

  AutomatonProgram& roll_out(RolloutUse use, std::int64_t samples, const AutomatonInputs& given,
                             const RolloutArguments& draws) {
    AutomatonProgram& program =
        rollouts.try_emplace({use, samples}, context, shape, use, samples, parameters)
            .first->second;
    static_cast<void>(program.set_inputs(given));  // commands are recorded each time
    program.set_draws(draws);
    CommandRecorder commands(context);
    record_rollout(commands, {&program});
    commands.run();
    return program;
  }

  std::vector<Tensor> in_tensors(std::span<const float> values) const {
    return tensors_of(parameters.shapes, values);
  }

  std::vector<Tensor> moments(std::size_t first) const {
    const std::size_t count = parameters.moments.size() / 2;
    return in_tensors(parameters.moments.values(first, count));
  }
};

Automaton::Automaton(int number, const AutomatonShape& shape, const AdamWOptions& options)
    : state_(std::make_unique<State>(number, shape, options)) {}

Automaton::~Automaton() = default;

void Automaton::set_parameters(std::span<const Tensor> logits, std::span<const Tensor> masks) {
  AutomatonParameters& parameters = state_->parameters;
  parameters.shapes.clear();
  for (const Tensor& layer : logits) parameters.shapes.push_back(layer.shape());
  parameters.values.upload(flat(logits));
  if (!masks.empty()) parameters.masks.upload(flat(masks));
}

std::vector<Tensor> Automaton::parameters() const {
  return state_->in_tensors(state_->parameters.values.values());
}

void Automaton::set_moments(std::span<const Tensor> first, std::span<const Tensor> second) {
  Array<float>& moments = state_->parameters.moments;
  moments.upload(flat(first));
  moments.upload(flat(second), moments.size() / 2);
}

std::vector<Tensor> Automaton::first_moments() const { return state_->moments(0); }

std::vector<Tensor> Automaton::second_moments() const {
  return state_->moments(state_->parameters.moments.size() / 2);
}

void Automaton::set_inputs(const AutomatonInputs& inputs) { state_->set_inputs(inputs); }

double Automaton::gradients(const RolloutArguments& draws) {
  State& s = *state_;
  s.set_draws(draws);
  s.run(Kind::gradients);
  return s.training->loss();
}

std::vector<Tensor> Automaton::parameter_gradients() const {
  return state_->in_tensors(state_->parameters.gradients.values());
}

Tensor Automaton::states() const {
  const AutomatonShape& shape = state_->shape;
  const std::int64_t steps = state_->training->steps();
  if (shape.keep_every() != 1) {
    fail("vulkan", "expected all states to be kept, received one of every {}", shape.keep_every());
  }
  Tensor all({steps + 1, shape.channels, shape.batch, shape.height, shape.width}, DType::float32);
  const auto to = all.mutable_values<float>();
  for (std::int64_t step = 0; step <= steps; ++step) {
    const Tensor one = state_->training->state(step);
    std::ranges::copy(one.values<float>(), to.begin() + step * one.size());
  }
  return all;
}

Tensor Automaton::final_state() const { return state_->training->state(state_->training->steps()); }

AutomatonOutcome Automaton::step(const RolloutArguments& draws, std::int64_t step,
                                 double learning_rate, bool with_hard) {
  State& s = *state_;
  s.set_draws(draws);
  s.training->set_update(s.options, step, learning_rate);
  if (with_hard) s.make_concurrent_hard().set_draws(draws);
  s.run(with_hard ? Kind::step_with_hard : Kind::step);
  AutomatonOutcome outcome{
      .loss = s.training->loss(), .finite = s.training->was_finite(), .hard = {}};
  if (with_hard) outcome.hard = s.concurrent_hard->outcome();
  return outcome;
}

double Automaton::soft_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                               const RolloutArguments& draws, Tensor& last) {
  const AutomatonProgram& program = state_->roll_out(RolloutUse::soft, samples, inputs, draws);
  last = program.state(state_->shape.steps);
  return program.loss();
}

HardErrors Automaton::hard_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                                   const RolloutArguments& draws) {
  State& s = *state_;
  s.last_hard = &s.roll_out(RolloutUse::hard, samples, inputs, draws);
  return s.last_hard->outcome();
}

Tensor Automaton::hard_state() const {
  if (state_->last_hard == nullptr) fail("vulkan", "no hard rollout has been run");
  return state_->last_hard->state(state_->shape.steps);
}

std::unique_ptr<DeviceAutomaton> make_automaton(int number, const AutomatonShape& shape,
                                                const AdamWOptions& options) {
  return std::make_unique<Automaton>(number, shape, options);
}

}  // namespace boolgrad::vulkan
