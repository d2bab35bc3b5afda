#include "boolgrad/automata/host_automaton.h"

#include <algorithm>
#include <utility>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/automata/bit_grid.h"
#include "boolgrad/automata/grid_errors.h"
#include "boolgrad/automata/starts.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/logic/gate_penalty.h"
#include "boolgrad/logic/hardening.h"
#include "boolgrad/logic/host_network.h"
#include "boolgrad/logic/host_program.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/loss.h"
#include "boolgrad/ops/reduction.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/options/target.h"

namespace boolgrad::automata {
namespace {

/// The target, broadcast to the states of a rollout.
Tensor broadcast_target(const Tensor& target, const Tensor& like) {
  return add(cast(target, like.dtype()), Tensor::zeros(like.shape(), like.dtype()));
}

/// 1 where a target is 0 or 1, and 0 elsewhere; undefined if it is 0 or 1 everywhere.
Tensor mask_of(const Tensor& target, DType dtype) {
  if (!has_any_value(target)) return {};
  Tensor mask(target.shape(), DType::uint8);
  std::ranges::transform(target.values<std::uint8_t>(), mask.mutable_values<std::uint8_t>().begin(),
                         [](std::uint8_t bit) { return matters(bit) ? 1 : 0; });
  return cast(mask, dtype);
}

class HostAutomaton final : public logic::HostProgram<DeviceAutomaton> {
 public:
  HostAutomaton(const Rule& rule, const AutomatonSpec& spec)
      : HostProgram(rule.parameters(), spec.optimiser),
        rule_(rule),
        spec_(spec),
        memory_(spec.memory.value_or(memory_choices(rule, spec.size).front())) {}

  void set_parameters(std::span<const Tensor> logits, std::span<const Tensor> masks) override {
    logic::copy_values({logits.begin(), logits.end()}, rule_.parameters());
    if (!masks.empty()) rule_.set_masks({masks.begin(), masks.end()});
  }

  void set_inputs(const AutomatonInputs& inputs) override {
    if (inputs.starts.defined()) inputs_.starts = inputs.starts;
    if (inputs.fire.defined()) inputs_.fire = inputs.fire;
    if (inputs.target.defined()) inputs_.target = inputs.target;
  }

  double gradients(const RolloutArguments& draws) override {
    RolloutSize size = spec_.size;
    if (draws.steps > 0) size.steps = draws.steps;
    starts_ = starts_for(size, inputs_, draws);
    fire_ = fire_for(size, inputs_, draws);
    const Tensor states = rollout(rule_, step_tables(draws), cast(starts_, rule_.dtype()), fire_,
                                  {.steps = size.steps,
                                   .returned = std::min(spec_.loss_steps, size.steps),
                                   .memory = memory_,
                                   .round = rounding_for(size, draws.hardening)});
    keep_last(states, size);
    Tensor loss = loss_at(states, inputs_.target);
    if (spec_.gate_penalty > 0) {
      loss = add(loss, scale(logic::two_input_gates(rule_.tables()), spec_.gate_penalty));
    }
    return differentiate(loss);
  }

  Tensor states() const override {
    const NoGrad off_the_tape;
    const Tensor start = cast(starts_, rule_.dtype());
    const Tensor later =
        rollout(rule_, start, fire_, {.steps = last_size_.steps, .returned = last_size_.steps});
    Shape shape = start.shape();
    shape.insert(shape.begin(), 1);
    const std::array<Tensor, 2> both = {start.viewed_as(shape), later};
    return concatenate(both);
  }
  Tensor final_state() const override { return final_; }

  AutomatonOutcome step(const RolloutArguments& draws, std::int64_t step, double learning_rate,
                        bool with_hard) override {
    AutomatonOutcome outcome;
    outcome.loss = gradients(draws);
    if (with_hard) outcome.hard = hard_rollout(spec_.size.batch, inputs_, draws);
    outcome.finite = update(outcome.loss, step, learning_rate);
    return outcome;
  }

  double soft_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                      const RolloutArguments& draws, Tensor& last) override {
    const NoGrad off_the_tape;
    RolloutSize size = spec_.size;
    size.batch = samples;
    const Tensor states = rollout(rule_, cast(starts_for(size, inputs, draws), rule_.dtype()),
                                  fire_for(size, inputs, draws), {.steps = size.steps});
    const Shape& shape = states.shape();
    last = reshape(states, {shape[1], shape[2], shape[3], shape[4]});
    return loss_at(states, inputs.target).item();
  }

  HardErrors hard_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                          const RolloutArguments& draws) override {
    const NoGrad off_the_tape;
    const HardStart& start = hard_start(samples, inputs, draws);
    const BitGrid state = hard_states(rule_, start.starts, start.fire, spec_.size.steps);
    const GridErrors errors = compare(state, inputs.target);
    hard_state_ = state.to_tensor(DType::uint8);
    return {.bits = errors.bits, .samples = errors.grids};
  }
  Tensor hard_state() const override {
    if (!hard_state_.defined()) fail("cpu", "no hard rollout has been run");
    return hard_state_;
  }

 private:
  /// Initial states. Fewer samples than `draws.samples` are a prefix of the same random numbers.
  Tensor starts_for(const RolloutSize& size, const AutomatonInputs& inputs,
                    const RolloutArguments& draws) const {
    if (!draws.random_starts) return inputs.starts;
    const std::int64_t drawn = draws.samples > 0 ? draws.samples : size.batch;
    const Tensor all = random_starts({rule_.channels(), drawn, size.height, size.width}, draws.seed,
                                     draws.start_stream, draws.random_step);
    return drawn == size.batch ? all : slice(all, 1, 0, size.batch);
  }

  Tensor fire_for(const RolloutSize& size, const AutomatonInputs& inputs,
                  const RolloutArguments& draws) const {
    if (inputs.fire.defined() || draws.fire_rate >= 1) return inputs.fire;
    RolloutSize all = size;
    if (draws.samples > 0) all.batch = draws.samples;
    const Tensor masks =
        fire_masks(all, draws.fire_rate, draws.seed, draws.fire_stream, draws.random_step);
    return all.batch == size.batch ? masks : slice(masks, 1, 0, size.batch);
  }

  std::vector<Tensor> step_tables(const RolloutArguments& draws) const {
    const HardeningStep& hardening = draws.hardening;
    if (changes_logits(hardening.kind)) {
      const Parametrisation parametrisation = rule_.update().parametrisation();
      return rule_.tables(logic::hardened_logits(hardening, rule_.parameters(), parametrisation));
    }
    if (!logic::hardens_tables(hardening)) return rule_.tables();
    return logic::hardened_tables(hardening, rule_.tables(), rule_.hard_tables(),
                                  {draws.frozen.begin(), draws.frozen.end()});
  }

  /// The cells whose states are rounded after each step. The last state, which enters the loss, is
  /// not rounded.
  static Tensor rounding_for(const RolloutSize& size, const HardeningStep& hardening) {
    if (hardening.kind != HardeningKind::states || hardening.share == 0) return {};
    Tensor masks =
        fire_masks(size, hardening.share, hardening.seed, hardening.stream, hardening.step);
    const std::int64_t cells = size.batch * size.height * size.width;
    std::ranges::fill(masks.mutable_values<std::uint8_t>().last(static_cast<std::size_t>(cells)),
                      std::uint8_t{0});
    return masks;
  }

  Tensor loss_at(const Tensor& states, const Tensor& target) const {
    const Tensor shown = slice(states, 1, 0, spec_.loss_channels);
    const Tensor mask = mask_of(target, shown.dtype());
    if (!mask.defined()) return loss_of(spec_.loss, shown, broadcast_target(target, shown));
    const Tensor wanted = multiply(cast(target, shown.dtype()), mask);
    return loss_of(spec_.loss, multiply(shown, mask), broadcast_target(wanted, shown));
  }

  void keep_last(const Tensor& states, const RolloutSize& size) {
    const NoGrad off_the_tape;
    const Shape& shape = states.shape();
    final_ = reshape(slice(states.detach(), 0, shape[0] - 1, shape[0]),
                     {shape[1], shape[2], shape[3], shape[4]});
    last_size_ = size;
  }

  /// Packed initial states and fire masks of a hard rollout. They are cached, because evaluations
  /// repeat them and sampling takes as long as the steps.
  struct HardStart {
    std::int64_t samples;
    RolloutArguments draws;
    Tensor given;  ///< initial states that were not sampled
    BitGrid starts;
    std::vector<BitGrid> fire;

    bool is_for(std::int64_t other_samples, const AutomatonInputs& inputs,
                const RolloutArguments& other) const {
      return samples == other_samples && draws.seed == other.seed &&
             draws.random_step == other.random_step && draws.random_starts == other.random_starts &&
             draws.start_stream == other.start_stream && draws.fire_rate == other.fire_rate &&
             draws.fire_stream == other.fire_stream && draws.samples == other.samples &&
             (other.random_starts || given.data() == inputs.starts.data()) &&
             !inputs.fire.defined();
    }
  };
  const HardStart& hard_start(std::int64_t samples, const AutomatonInputs& inputs,
                              const RolloutArguments& draws) {
    if (hard_start_ && hard_start_->is_for(samples, inputs, draws)) return *hard_start_;
    RolloutSize size = spec_.size;
    size.batch = samples;
    HardStart start{
        samples, draws, inputs.starts, BitGrid::from(starts_for(size, inputs, draws)), {}};
    const Tensor fire = fire_for(size, inputs, draws);
    for (std::int64_t step = 0; fire.defined() && step < size.steps; ++step) {
      start.fire.push_back(BitGrid::from(slice(fire, 0, step, step + 1)));
    }
    hard_start_.emplace(std::move(start));
    return *hard_start_;
  }

  Rule rule_;
  AutomatonSpec spec_;
  Memory memory_;
  AutomatonInputs inputs_;
  Tensor starts_, fire_;  ///< of the last training rollout
  RolloutSize last_size_;
  Tensor final_;
  std::optional<HardStart> hard_start_;
  Tensor hard_state_;
};

}  // namespace

std::vector<Tensor> masks_of(const Rule& rule) {
  std::vector<Tensor> masks = masks_of(rule.perceive());
  for (const Tensor& mask : masks_of(rule.update())) masks.push_back(mask);
  return masks;
}

std::unique_ptr<DeviceAutomaton> make_host_automaton(const Rule& rule, const AutomatonSpec& spec) {
  check_grid(rule.border(), spec.size.height, spec.size.width);
  return std::make_unique<HostAutomaton>(rule, spec);
}

std::unique_ptr<DeviceAutomaton> make_automaton_program(const Device& device, const Rule& rule,
                                                        const AutomatonSpec& spec) {
  if (device.is_cpu()) return make_host_automaton(rule, spec);
  if (rule.dtype() != DType::float32) {
    fail("device", "expected a rule of float32 for {}, received {}", to_string(device),
         to_string(rule.dtype()));
  }
  if (rule.perceive().parametrisation() != rule.update().parametrisation()) {
    fail("device", "expected one parametrisation for {}, received two", to_string(device));
  }
  check_grid(rule.border(), spec.size.height, spec.size.width);
  const std::vector<LutWires> perceive = logic::wires_of(rule.perceive());
  const std::vector<LutWires> update = logic::wires_of(rule.update());
  AutomatonShape shape{.channels = rule.channels(),
                       .kernels = rule.kernels(),
                       .batch = spec.size.batch,
                       .height = spec.size.height,
                       .width = spec.size.width,
                       .steps = spec.size.steps,
                       .extra_steps = spec.extra_steps,
                       .loss_channels = spec.loss_channels,
                       .loss_steps = spec.loss_steps,
                       .border = rule.border(),
                       .parametrisation = rule.update().parametrisation(),
                       .loss = spec.loss,
                       .gate_penalty = spec.gate_penalty,
                       .memory = spec.memory.value_or(Memory{}),
                       .perceive = perceive,
                       .update = update};
  if (!spec.memory) shape = with_fastest_memory(device, shape);
  auto automaton = make_device_automaton(device, shape, spec.optimiser);
  automaton->set_parameters(logic::detached(rule.parameters()), masks_of(rule));
  return automaton;
}

}  // namespace boolgrad::automata
