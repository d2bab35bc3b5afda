#include "boolgrad/backend/cuda/automaton/automaton.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "boolgrad/backend/cuda/automaton/program.h"
#include "boolgrad/backend/cuda/optimiser/optimiser.h"
#include "boolgrad/backend/cuda/runtime/device.h"
#include "boolgrad/backend/cuda/runtime/stream.h"
#include "boolgrad/backend/plan/automaton_cells.h"

namespace boolgrad::cuda {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

std::size_t free_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "ask for free memory");
  return free;
}

/// Of the selected device.
const AutomatonShape& checked(const AutomatonShape& shape) {
  check_grid_size("cuda", shape);
  check_training_memory("cuda", shape, free_memory(), [](const AutomatonShape& other) {
    return training_bytes(other, device_limits());
  });
  return shape;
}

/// The values of all tensors, which must be `count`.
std::vector<float> all_of(std::span<const Tensor> tensors, std::size_t count, const char* what) {
  std::vector<float> all = flat(tensors);
  if (all.size() != count) fail("cuda", "expected {} {}, received {}", count, what, all.size());
  return all;
}

class Automaton final : public DeviceAutomaton {
 public:
  Automaton(int index, const AutomatonShape& shape, const AdamWOptions& options);
  ~Automaton() override { cudaSetDevice(device_); }

  void set_parameters(std::span<const Tensor> logits, std::span<const Tensor> masks) override;
  std::vector<Tensor> parameters() const override { return download(parameters_.logits()); }
  void set_moments(std::span<const Tensor> first, std::span<const Tensor> second) override;
  std::vector<Tensor> first_moments() const override { return download(optimiser_.first()); }
  std::vector<Tensor> second_moments() const override { return download(optimiser_.second()); }
  void set_inputs(const AutomatonInputs& inputs) override;
  double gradients(const AutomatonDraws& draws) override;
  std::vector<Tensor> parameter_gradients() const override {
    return download(parameters_.gradients);
  }
  Tensor states() const override;
  Tensor final_state() const override;
  AutomatonOutcome step(const AutomatonDraws& draws, std::int64_t step, double learning_rate,
                        bool with_hard) override;
  double soft_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                      const AutomatonDraws& draws, Tensor& last) override;
  HardOutcome hard_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                           const AutomatonDraws& draws) override;
  Tensor hard_state() const override;

 private:
  std::size_t parameter_count() const {
    return shape_.gates() * index(logit_count(shape_.get().parametrisation, 2));
  }
  std::vector<Tensor> download(const DeviceArray<float>& flat) const;
  AutomatonProgram& rollout(RolloutUse use, std::int64_t samples);
  AutomatonProgram& hard_beside_training();
  void run_training(const AutomatonDraws& draws, const Update& update = {});
  Update own_update(std::int64_t step, double learning_rate);
  void update_by_norm(std::int64_t step, double learning_rate);

  int device_;
  OwnedShape shape_;
  OwnStream main_, beside_;
  Optimiser optimiser_;
  AutomatonParameters parameters_;
  PinnedArray<int> finite_{1};
  std::optional<AutomatonProgram> training_;
  std::optional<AutomatonProgram> beside_training_;  ///< a hard rollout from the same starts
  std::map<std::pair<RolloutUse, std::int64_t>, AutomatonProgram> rollouts_;
  AutomatonProgram* last_hard_ = nullptr;
  AutomatonInputs inputs_;  ///< of training
};

Automaton::Automaton(int index, const AutomatonShape& shape, const AdamWOptions& options)
    : device_(selected(index)), shape_(checked(shape)), optimiser_(parameter_count(), options) {
  for (DeviceArray<float>& logits : parameters_.both_logits) {
    logits = DeviceArray<float>(parameter_count());
  }
  parameters_.gradients = DeviceArray<float>(parameter_count());
  parameters_.masks = DeviceArray<float>(std::vector<float>(shape_.gates(), 1.F));
  training_.emplace(shape_.get(), RolloutUse::training, shape.batch, parameters_, main_.get());
}

void Automaton::set_parameters(std::span<const Tensor> logits, std::span<const Tensor> masks) {
  select_device(device_);
  const std::vector<float> all = all_of(logits, parameter_count(), "parameters");
  parameters_.shapes.clear();
  for (const Tensor& layer : logits) parameters_.shapes.push_back(layer.shape());
  parameters_.logits().upload(all.data(), all.size());
  if (masks.empty()) return;
  const std::vector<float> all_masks = all_of(masks, shape_.gates(), "masks of gates");
  parameters_.masks.upload(all_masks.data(), all_masks.size());
}

void Automaton::set_moments(std::span<const Tensor> first, std::span<const Tensor> second) {
  select_device(device_);
  const std::vector<float> means = all_of(first, parameter_count(), "moments");
  const std::vector<float> squares = all_of(second, parameter_count(), "moments");
  optimiser_.first().upload(means.data(), means.size());
  optimiser_.second().upload(squares.data(), squares.size());
}

std::vector<Tensor> Automaton::download(const DeviceArray<float>& flat) const {
  select_device(device_);
  return tensors_of(parameters_.shapes, flat.values());
}

void Automaton::set_inputs(const AutomatonInputs& inputs) {
  select_device(device_);
  training_->set_inputs(inputs);
  if (beside_training_) beside_training_->set_inputs(inputs);
  take_over(inputs_, inputs);
}

void Automaton::run_training(const AutomatonDraws& draws, const Update& update) {
  const HardeningStep& hardening = draws.hardening;
  if (hardening.kind == HardeningKind::freeze && hardening.share > 0) {
    parameters_.set_frozen(draws.frozen);
  }
  training_->run(draws, update);
}

double Automaton::gradients(const AutomatonDraws& draws) {
  select_device(device_);
  run_training(draws);
  main_.wait();
  return training_->loss();
}

Tensor Automaton::states() const {
  select_device(device_);
  const AutomatonShape& shape = shape_.get();
  if (shape.keep_every() != 1) {
    fail("cuda", "expected the state of every step to be kept, received one in {}",
         shape.keep_every());
  }
  const std::int64_t steps = training_->steps();
  Tensor all({steps + 1, shape.channels, shape.batch, shape.height, shape.width}, DType::float32);
  const auto to = all.mutable_values<float>();
  for (std::int64_t step = 0; step <= steps; ++step) {
    const Tensor one = training_->state(step);
    std::ranges::copy(one.values<float>(), to.begin() + step * one.size());
  }
  return all;
}

Tensor Automaton::final_state() const {
  select_device(device_);
  return training_->state(training_->steps());
}

AutomatonProgram& Automaton::rollout(RolloutUse use, std::int64_t samples) {
  const cudaStream_t stream = use == RolloutUse::hard ? beside_.get() : main_.get();
  return rollouts_
      .try_emplace(std::pair(use, samples), shape_.get(), use, samples, parameters_, stream)
      .first->second;
}

/// Runs on the processors that training leaves where they are enough for two tiles each at most;
/// on all, after or before it, where few are left.
AutomatonProgram& Automaton::hard_beside_training() {
  if (!beside_training_) {
    const AutomatonShape& shape = shape_.get();
    const int left = device_limits().processors - training_->blocks();
    constexpr std::int64_t cells_per_tile = std::int64_t{4} * cells_a_word;
    constexpr std::int64_t max_tiles_each = 2;
    const bool enough = left * max_tiles_each * cells_per_tile >= shape.cells();
    beside_training_.emplace(shape, RolloutUse::hard, shape.batch, parameters_, beside_.get(),
                             enough ? left : 0);
    beside_training_->set_inputs(inputs_);
  }
  return *beside_training_;
}

/// How training updates the parameters in its own launch.
Update Automaton::own_update(std::int64_t step, double learning_rate) {
  return {.parameters = parameters_.next_logits().data(),
          .first = optimiser_.first().data(),
          .second = optimiser_.second().data(),
          .finite = finite_.data(),
          .factors = optimiser_.factors(step, learning_rate)};
}

/// Where gradients are clipped by their norm, it must be known before any is used.
void Automaton::update_by_norm(std::int64_t step, double learning_rate) {
  beside_.wait();
  optimiser_.step(parameters_.logits().data(), parameters_.gradients.data(),
                  training_->loss_on_device(), step, learning_rate, main_.get());
  check(cudaMemcpyAsync(finite_.data(), optimiser_.finite(), sizeof(int), cudaMemcpyDeviceToHost,
                        main_.get()),
        "fetch whether gradients are finite");
}

AutomatonOutcome Automaton::step(const AutomatonDraws& draws, std::int64_t step,
                                 double learning_rate, bool with_hard) {
  select_device(device_);
  AutomatonProgram* hard = with_hard ? &hard_beside_training() : nullptr;
  const bool updates_itself = optimiser_.options().clip_norm <= 0;
  run_training(draws, updates_itself ? own_update(step, learning_rate) : Update{});
  // Beside the training: both read the parameters of before.
  if (hard != nullptr) hard->run(draws);
  if (!updates_itself) update_by_norm(step, learning_rate);
  beside_.wait();
  main_.wait();
  if (updates_itself) parameters_.current = 1 - parameters_.current;
  AutomatonOutcome outcome{.loss = training_->loss(), .finite = finite_[0] != 0, .hard = {}};
  if (hard != nullptr) outcome.hard = hard->outcome();
  return outcome;
}

double Automaton::soft_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                               const AutomatonDraws& draws, Tensor& last) {
  select_device(device_);
  AutomatonProgram& program = rollout(RolloutUse::soft, samples);
  program.set_inputs(inputs);
  program.run(draws);
  main_.wait();
  last = program.state(program.steps());
  return program.loss();
}

HardOutcome Automaton::hard_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                                    const AutomatonDraws& draws) {
  select_device(device_);
  AutomatonProgram& program = rollout(RolloutUse::hard, samples);
  program.set_inputs(inputs);
  program.run(draws);
  beside_.wait();
  last_hard_ = &program;
  return program.outcome();
}

Tensor Automaton::hard_state() const {
  select_device(device_);
  if (last_hard_ == nullptr) fail("cuda", "expected a hard rollout before, received none");
  return last_hard_->state(last_hard_->steps());
}

}  // namespace

bool keeps_while_going_on(int index, const AutomatonShape& shape) {
  select_device(index);
  const AutomatonLimits limits = device_limits();
  const TilePlan tiles =
      best_tiles(shape, RolloutUse::training, static_cast<int>(shape.cells()), limits);
  return other_acts_fit(tiles, limits) && training_bytes(shape, limits) <= free_memory() / 2;
}

std::unique_ptr<DeviceAutomaton> make_automaton(int index, const AutomatonShape& shape,
                                                const AdamWOptions& options) {
  return std::make_unique<Automaton>(index, shape, options);
}

}  // namespace boolgrad::cuda
