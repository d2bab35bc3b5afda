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
#include "boolgrad/core/fail.h"

namespace boolgrad::cuda {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

std::size_t free_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "query the free memory");
  return free;
}

/// Checks a shape against the memory of the selected device.
const AutomatonShape& checked(const AutomatonShape& shape) {
  check_grid_size("cuda", shape);
  check_training_memory("cuda", shape, free_memory(), [](const AutomatonShape& other) {
    return training_bytes(other, device_limits());
  });
  return shape;
}

/// The values of all tensors. Throws unless there are `count`.
std::vector<float> flat_values(std::span<const Tensor> tensors, std::size_t count,
                               const char* what) {
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
  double gradients(const RolloutArguments& draws) override;
  std::vector<Tensor> parameter_gradients() const override {
    return download(parameters_.gradients);
  }
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
  std::size_t parameter_count() const {
    return shape_.gates() * index(logit_count(shape_.get().parametrisation, 2));
  }
  std::vector<Tensor> download(const DeviceArray<float>& flat) const;
  AutomatonProgram& rollout(RolloutUse use, std::int64_t samples);
  AutomatonProgram& concurrent_hard();
  void run_training(const RolloutArguments& draws, const Update& update = {});
  Update own_update(std::int64_t step, double learning_rate);
  void update_by_norm(std::int64_t step, double learning_rate);

  int device_;
  OwnedShape shape_;
  OwnedStream main_stream_, second_stream_;
  Optimiser optimiser_;
  AutomatonParameters parameters_;
  PinnedArray<int> finite_{1};
  std::optional<AutomatonProgram> training_;
  std::optional<AutomatonProgram> concurrent_hard_;  ///< hard rollout from the same start states
  std::map<std::pair<RolloutUse, std::int64_t>, AutomatonProgram> rollouts_;
  AutomatonProgram* last_hard_ = nullptr;
  AutomatonInputs inputs_;  ///< inputs of training
};

Automaton::Automaton(int index, const AutomatonShape& shape, const AdamWOptions& options)
    : device_(selected(index)), shape_(checked(shape)), optimiser_(parameter_count(), options) {
  for (DeviceArray<float>& logits : parameters_.both_logits) {
    logits = DeviceArray<float>(parameter_count());
  }
  parameters_.gradients = DeviceArray<float>(parameter_count());
  parameters_.masks = DeviceArray<float>(std::vector<float>(shape_.gates(), 1.F));
  training_.emplace(shape_.get(), RolloutUse::training, shape.batch, parameters_,
                    main_stream_.get());
}

void Automaton::set_parameters(std::span<const Tensor> logits, std::span<const Tensor> masks) {
  select_device(device_);
  const std::vector<float> all = flat_values(logits, parameter_count(), "parameters");
  parameters_.shapes.clear();
  for (const Tensor& layer : logits) parameters_.shapes.push_back(layer.shape());
  parameters_.logits().upload(all.data(), all.size());
  if (masks.empty()) return;
  const std::vector<float> all_masks = flat_values(masks, shape_.gates(), "gate masks");
  parameters_.masks.upload(all_masks.data(), all_masks.size());
}

void Automaton::set_moments(std::span<const Tensor> first, std::span<const Tensor> second) {
  select_device(device_);
  const std::vector<float> means = flat_values(first, parameter_count(), "moments");
  const std::vector<float> squares = flat_values(second, parameter_count(), "moments");
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
  if (concurrent_hard_) concurrent_hard_->set_inputs(inputs);
  take_over(inputs_, inputs);
}

void Automaton::run_training(const RolloutArguments& draws, const Update& update) {
  const HardeningStep& hardening = draws.hardening;
  if (hardening.kind == HardeningKind::freeze && hardening.share > 0) {
    parameters_.set_frozen(draws.frozen);
  }
  training_->run(draws, update);
}

double Automaton::gradients(const RolloutArguments& draws) {
  select_device(device_);
  run_training(draws);
  main_stream_.wait();
  return training_->loss();
}

Tensor Automaton::states() const {
  select_device(device_);
  const AutomatonShape& shape = shape_.get();
  if (shape.keep_every() != 1) {
    fail("cuda", "expected all states to be kept, received one of every {}", shape.keep_every());
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
  const cudaStream_t stream = use == RolloutUse::hard ? second_stream_.get() : main_stream_.get();
  return rollouts_
      .try_emplace(std::pair(use, samples), shape_.get(), use, samples, parameters_, stream)
      .first->second;
}

/// Runs on the multiprocessors that training leaves idle if that means at most two tiles per block.
/// Otherwise it runs on all of them, before or after training.
AutomatonProgram& Automaton::concurrent_hard() {
  if (!concurrent_hard_) {
    const AutomatonShape& shape = shape_.get();
    const int left = device_limits().processors - training_->blocks();
    constexpr std::int64_t cells_per_tile = std::int64_t{4} * cells_per_word;
    constexpr std::int64_t max_tiles_each = 2;
    const bool enough = left * max_tiles_each * cells_per_tile >= shape.cells();
    concurrent_hard_.emplace(shape, RolloutUse::hard, shape.batch, parameters_,
                             second_stream_.get(), enough ? left : 0);
    concurrent_hard_->set_inputs(inputs_);
  }
  return *concurrent_hard_;
}

/// For training launches that update the parameters themselves.
Update Automaton::own_update(std::int64_t step, double learning_rate) {
  return {.parameters = parameters_.next_logits().data(),
          .first = optimiser_.first().data(),
          .second = optimiser_.second().data(),
          .finite = finite_.data(),
          .factors = optimiser_.factors(step, learning_rate)};
}

/// Clipping by norm needs all gradients first, so the update is a separate launch.
void Automaton::update_by_norm(std::int64_t step, double learning_rate) {
  second_stream_.wait();
  optimiser_.step(parameters_.logits().data(), parameters_.gradients.data(),
                  training_->loss_on_device(), step, learning_rate, main_stream_.get());
  check(cudaMemcpyAsync(finite_.data(), optimiser_.finite(), sizeof(int), cudaMemcpyDeviceToHost,
                        main_stream_.get()),
        "copy from the device");
}

AutomatonOutcome Automaton::step(const RolloutArguments& draws, std::int64_t step,
                                 double learning_rate, bool with_hard) {
  select_device(device_);
  AutomatonProgram* hard = with_hard ? &concurrent_hard() : nullptr;
  const bool updates_itself = optimiser_.options().clip_norm <= 0;
  run_training(draws, updates_itself ? own_update(step, learning_rate) : Update{});
  // Concurrent with training: both read the parameters from before the update.
  if (hard != nullptr) hard->run(draws);
  if (!updates_itself) update_by_norm(step, learning_rate);
  second_stream_.wait();
  main_stream_.wait();
  if (updates_itself) parameters_.current = 1 - parameters_.current;
  AutomatonOutcome outcome{.loss = training_->loss(), .finite = finite_[0] != 0, .hard = {}};
  if (hard != nullptr) outcome.hard = hard->outcome();
  return outcome;
}

double Automaton::soft_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                               const RolloutArguments& draws, Tensor& last) {
  select_device(device_);
  AutomatonProgram& program = rollout(RolloutUse::soft, samples);
  program.set_inputs(inputs);
  program.run(draws);
  main_stream_.wait();
  last = program.state(program.steps());
  return program.loss();
}

HardErrors Automaton::hard_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                                   const RolloutArguments& draws) {
  select_device(device_);
  AutomatonProgram& program = rollout(RolloutUse::hard, samples);
  program.set_inputs(inputs);
  program.run(draws);
  second_stream_.wait();
  last_hard_ = &program;
  return program.outcome();
}

Tensor Automaton::hard_state() const {
  select_device(device_);
  if (last_hard_ == nullptr) fail("cuda", "no hard rollout has been run");
  return last_hard_->state(last_hard_->steps());
}

}  // namespace

bool can_keep_activations(int index, const AutomatonShape& shape) {
  select_device(index);
  const AutomatonLimits limits = device_limits();
  const TilePlan tiles =
      best_tiles(shape, RolloutUse::training, static_cast<int>(shape.cells()), limits);
  return second_acts_fit(tiles, limits) && training_bytes(shape, limits) <= free_memory() / 2;
}

std::unique_ptr<DeviceAutomaton> make_automaton(int index, const AutomatonShape& shape,
                                                const AdamWOptions& options) {
  return std::make_unique<Automaton>(index, shape, options);
}

}  // namespace boolgrad::cuda
