// The memory of an automaton's launches on the device. Inside of `cuda/`.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/backend/cuda/automaton/arguments.h"
#include "boolgrad/backend/cuda/automaton/placement.h"
#include "boolgrad/backend/cuda/runtime/memory.h"
#include "boolgrad/backend/device/automaton.h"

namespace boolgrad::cuda {

/// What all programs of an automaton share.
struct AutomatonParameters {
  /// A training step reads the one and writes the other, so that a rollout beside it may still
  /// read.
  std::array<DeviceArray<float>, 2> both_logits;
  std::size_t current = 0;
  DeviceArray<float> masks, gradients;
  DeviceArray<float> frozen;  ///< of gates, where hardening freezes some
  std::vector<float> host_frozen;
  std::vector<Shape> shapes;

  DeviceArray<float>& logits() { return both_logits[current]; }
  const DeviceArray<float>& logits() const { return both_logits[current]; }
  DeviceArray<float>& next_logits() { return both_logits[1 - current]; }

  /// Uploads only what is new.
  void set_frozen(std::span<const Tensor> tensors);
};

/// Training, or rollouts of soft or hard gates, for so many grids.
class AutomatonProgram {
 public:
  /// On `processors` of the device's, or on all where that is 0.
  AutomatonProgram(const AutomatonShape& shape, RolloutUse use, std::int64_t samples,
                   const AutomatonParameters& parameters, cudaStream_t stream, int processors = 0);

  int blocks() const { return launch_.blocks; }

  /// Undefined parts stay as they are.
  void set_inputs(const AutomatonInputs& inputs);

  /// Launches what this is for. Training also updates the parameters where `update` says how.
  void run(const AutomatonDraws& draws, const Update& update = {});

  const float* loss_on_device() const { return loss_.data(); }

  /// The loss, the wrong bits and the steps of the last launch, once it is done.
  float loss() const { return seen_loss_[0]; }
  HardOutcome outcome() const;
  std::int64_t steps() const { return arguments_.steps; }

  /// The state after so many steps of it, [channels, samples, height, width]: floats, or bits.
  Tensor state(std::int64_t step) const;

 private:
  void describe(const TilePlan& tiles);
  void place_tables(const TilePlan& tiles);
  void place_other_acts(const TilePlan& tiles);
  void allocate_all(const RulePlan& plan);
  void point_at_all();
  void upload(DeviceArray<float>& to, const Tensor& grid);
  void set_draws(const AutomatonDraws& draws);
  bool trains() const { return use_ == RolloutUse::training; }

  const AutomatonShape& shape_;
  const AutomatonParameters& parameters_;
  RolloutUse use_;
  std::int64_t samples_;
  AutomatonLimits limits_;
  KernelArguments arguments_{};
  Launch launch_{};
  DeviceArray<Wires> wires_;
  DeviceArray<Rest> rest_;
  DeviceArray<std::uint32_t> short_wires_, origin_, layer_of_;
  DeviceArray<Reads> input_reads_;
  DeviceArray<float> states_, stretch_, last_, target_, loss_, read_, kept_acts_, scratch_;
  DeviceArray<float> step_logits_;  ///< made when it is first needed
  DeviceArray<double> block_losses_, cell_losses_, penalties_;
  DeviceArray<float4> coefficients_, block_sums_;
  DeviceArray<unsigned> sync_;
  PinnedArray<float> seen_loss_;
  PinnedArray<uint2> wrong_;
  DeviceArray<std::uint8_t> fire_;
};

}  // namespace boolgrad::cuda
