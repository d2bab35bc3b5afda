#include "boolgrad/train/learners/blockwise_program.h"

#include <array>
#include <chrono>
#include <cstring>
#include <numeric>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/automata/starts.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::train {
namespace {

/// The part of a block, or nothing of nothing.
template <class T>
std::span<const T> part_of(std::span<const T> all, const Blocks& blocks, std::int64_t block) {
  if (all.empty()) return {};
  const auto samples = static_cast<std::size_t>(blocks.samples());
  return all.subspan(static_cast<std::size_t>(block) * samples, samples);
}

class BlockwiseNetwork final : public BlockwiseProgram<DeviceNetwork> {
 public:
  BlockwiseNetwork(std::unique_ptr<DeviceNetwork> block, const Blocks& blocks,
                   const NetworkSpec& spec)
      : BlockwiseProgram(std::move(block), blocks, spec.optimiser),
        // Heads have the mean loss of a batch, outputs the sum.
        factor_(spec.head ? 1 / static_cast<double>(blocks.count()) : 1),
        in_order_(static_cast<std::size_t>(blocks.count() * blocks.samples())) {
    std::iota(in_order_.begin(), in_order_.end(), std::int64_t{0});
  }

  void set_cases(DataRole role, const Tensor& inputs, const Tensor& targets) override {
    block().set_cases(role, inputs, targets);
  }
  void set_samples(DataRole role, const FeatureSamples& samples, const Tensor& targets) override {
    block().set_samples(role, samples, targets);
  }
  void set_candidates(std::size_t layer, const CandidateWires& candidates) override {
    block().set_candidates(layer, candidates);
  }
  void set_parameters(std::span<const Tensor> parameters, std::span<const Tensor> masks,
                      const Tensor& input_mask) override {
    take_parameters(parameters);
    masks_.assign(masks.begin(), masks.end());
    input_mask_ = input_mask;
    send_parameters();
  }

  StepResult step(const NetworkStepArguments& arguments) override {
    StepResult result;
    result.loss = gradients(arguments);
    result.finite = update(result.loss, arguments.step, arguments.learning_rate);
    if (result.finite) send_parameters();
    return result;
  }

  double gradients(const NetworkStepArguments& arguments) override {
    return sum_over_blocks(
        factor_, [&](std::int64_t b) { return block().gradients(of_block(arguments, b)); });
  }

  /// Of all blocks, on every rank, because wires are drawn again rarely.
  WireSignals wire_signals(const NetworkStepArguments& arguments, std::size_t layer) override {
    std::vector<Tensor> inputs;
    std::vector<Tensor> gradients;
    for (std::int64_t b = 0; b < blocks().count(); ++b) {
      const WireSignals own = block().wire_signals(of_block(arguments, b), layer);
      inputs.push_back(own.inputs.clone());
      gradients.push_back(own.slot_gradients.clone());
    }
    const NoGrad off_the_tape;
    return {concatenate(inputs, 1), scale(concatenate(gradients, 1), factor_)};
  }

  /// Of the first block alone.
  std::vector<Tensor> layer_outputs() const override { return block().layer_outputs(); }
  NetworkScores evaluate(double wire_temperature) override {
    return block().evaluate(wire_temperature);
  }

  double milliseconds(int /*count*/) override {
    fail("train", "expected a step of a whole batch to repeat, received one in blocks");
  }

 private:
  NetworkStepArguments of_block(NetworkStepArguments arguments, std::int64_t b) const {
    const std::span<const std::int64_t> all =
        arguments.samples.empty() ? std::span<const std::int64_t>(in_order_) : arguments.samples;
    arguments.samples = part_of(all, blocks(), b);
    arguments.transforms = part_of(arguments.transforms, blocks(), b);
    return arguments;
  }
  void send_parameters() { block().set_parameters(parameters(), masks_, input_mask_); }

  double factor_;
  std::vector<std::int64_t> in_order_;
  std::vector<Tensor> masks_;
  Tensor input_mask_;
};

class BlockwiseAutomaton final : public BlockwiseProgram<DeviceAutomaton> {
 public:
  BlockwiseAutomaton(std::unique_ptr<DeviceAutomaton> block, const Blocks& blocks,
                     const automata::AutomatonSpec& spec, std::int64_t channels)
      : BlockwiseProgram(std::move(block), blocks, spec.optimiser),
        size_(spec.size),
        channels_(channels) {}

  void set_parameters(std::span<const Tensor> logits, std::span<const Tensor> masks) override {
    take_parameters(logits);
    masks_.assign(masks.begin(), masks.end());
    send_parameters();
  }

  void set_inputs(const AutomatonInputs& inputs) override {
    if (inputs.starts.defined()) inputs_.starts = inputs.starts;
    if (inputs.fire.defined()) inputs_.fire = inputs.fire;
    if (inputs.target.defined()) inputs_.target = inputs.target;
  }

  double gradients(const RolloutArguments& arguments) override {
    const AutomatonInputs whole = drawn(arguments);
    RolloutArguments given = arguments;
    given.random_starts = false;
    given.fire_rate = 1;  // the masks are given, too
    finals_.clear();
    return sum_over_blocks(1, [&](std::int64_t b) {
      block().set_inputs({grids(whole.starts, b), grids(whole.fire, b), grids(whole.target, b)});
      const double loss = block().gradients(given);
      finals_.push_back(block().final_state().clone());
      return loss;
    });
  }

  Tensor states() const override { return block().states(); }

  Tensor final_state() const override {
    const NoGrad off_the_tape;
    const Tensor own = concatenate(finals_, 1);
    std::vector<std::byte> all(own.bytes() * static_cast<std::size_t>(blocks().group().size()));
    const auto* bytes = static_cast<const std::byte*>(own.data());
    blocks().group().all_gather({bytes, own.bytes()}, all);
    std::vector<Tensor> parts;
    for (std::size_t begin = 0; begin < all.size(); begin += own.bytes()) {
      parts.emplace_back(own.shape(), own.dtype());
      std::memcpy(parts.back().mutable_data(), all.data() + begin, own.bytes());
    }
    return concatenate(parts, 1);
  }

  AutomatonOutcome step(const RolloutArguments& arguments, std::int64_t step, double learning_rate,
                        bool with_hard) override {
    AutomatonOutcome outcome;
    outcome.loss = gradients(arguments);
    if (with_hard) outcome.hard = hard_rollout(size_.batch, inputs_, arguments);
    outcome.finite = update(outcome.loss, step, learning_rate);
    if (outcome.finite) send_parameters();
    return outcome;
  }

  double soft_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                      const RolloutArguments& arguments, Tensor& last) override {
    return block().soft_rollout(samples, inputs, arguments, last);
  }
  HardErrors hard_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                          const RolloutArguments& arguments) override {
    return block().hard_rollout(samples, inputs, arguments);
  }
  Tensor hard_state() const override { return block().hard_state(); }

 private:
  /// The inputs of the whole batch, those that are drawn included.
  AutomatonInputs drawn(const RolloutArguments& arguments) const {
    AutomatonInputs whole = inputs_;
    if (arguments.random_starts) {
      whole.starts =
          automata::random_starts({channels_, size_.batch, size_.height, size_.width},
                                  arguments.seed, arguments.start_stream, arguments.random_step);
    }
    if (!whole.fire.defined() && arguments.fire_rate < 1) {
      automata::RolloutSize size = size_;
      if (arguments.steps > 0) size.steps = arguments.steps;
      whole.fire = automata::fire_masks(size, arguments.fire_rate, arguments.seed,
                                        arguments.fire_stream, arguments.random_step);
    }
    return whole;
  }

  /// The grids of a block. A target of a single grid is that of every block.
  Tensor grids(const Tensor& all, std::int64_t b) const {
    if (!all.defined() || all.shape()[1] != size_.batch) return all;
    const NoGrad off_the_tape;
    return slice(all, 1, b * blocks().samples(), (b + 1) * blocks().samples()).clone();
  }

  void send_parameters() { block().set_parameters(parameters(), masks_); }

  automata::RolloutSize size_;
  std::int64_t channels_;
  AutomatonInputs inputs_;
  std::vector<Tensor> masks_;
  std::vector<Tensor> finals_;  ///< the last states of this rank's blocks
};

}  // namespace

std::unique_ptr<DeviceNetwork> make_blockwise_network(std::unique_ptr<DeviceNetwork> block,
                                                      const Blocks& blocks,
                                                      const NetworkSpec& spec) {
  return std::make_unique<BlockwiseNetwork>(std::move(block), blocks, spec);
}

std::unique_ptr<DeviceAutomaton> make_blockwise_automaton(std::unique_ptr<DeviceAutomaton> block,
                                                          const Blocks& blocks,
                                                          const automata::AutomatonSpec& spec,
                                                          std::int64_t channels) {
  return std::make_unique<BlockwiseAutomaton>(std::move(block), blocks, spec, channels);
}

}  // namespace boolgrad::train
