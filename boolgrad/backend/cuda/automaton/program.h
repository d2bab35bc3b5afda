// Device memory and launches of an automaton. Internal to `cuda/`.
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

/// State shared by all programs of an automaton.
struct AutomatonParameters {
  /// Double buffer: a training step reads one and writes the other, so that a concurrent rollout
  /// can still read the old values.
  std::array<DeviceArray<float>, 2> both_logits;
  std::size_t current = 0;
  DeviceArray<float> masks, gradients;
  DeviceArray<float> frozen;  ///< one per gate, if hardening freezes gates
  std::vector<float> host_frozen;
  std::vector<Shape> shapes;

  DeviceArray<float>& logits() { return both_logits[current]; }
  const DeviceArray<float>& logits() const { return both_logits[current]; }
  DeviceArray<float>& next_logits() { return both_logits[1 - current]; }

  /// Uploads only on change.
  void set_frozen(std::span<const Tensor> tensors);
};

/// Training, or rollouts of soft or hard gates, for a fixed number of grids.
class AutomatonProgram {
 public:
  /// Uses `processors` multiprocessors of the device, or all if 0.
  AutomatonProgram(const AutomatonShape& shape, RolloutUse use, std::int64_t samples,
                   const AutomatonParameters& parameters, cudaStream_t stream, int processors = 0);

  int blocks() const { return launch_.blocks; }

  /// Undefined inputs keep their previous values.
  void set_inputs(const AutomatonInputs& inputs);

  /// Training also updates the parameters if `update` has an output.
  void run(const RolloutArguments& draws, const Update& update = {});

  const float* loss_on_device() const { return loss_.data(); }

  /// Loss, errors and number of steps of the last launch, once it has finished.
  float loss() const { return host_loss_[0]; }
  HardErrors outcome() const;
  std::int64_t steps() const { return arguments_.steps; }

  /// The state after `step` steps, [channels, samples, height, width]: floats, or bits.
  Tensor state(std::int64_t step) const;

 private:
  void set_geometry(const TilePlan& tiles);
  void place_tables(const TilePlan& tiles);
  void place_second_acts(const TilePlan& tiles);
  void allocate_buffers(const RulePlan& plan);
  void set_pointers();
  void upload(DeviceArray<float>& to, const Tensor& grid);
  void set_draws(const RolloutArguments& draws);
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
  DeviceArray<float> states_, segment_, last_, target_, loss_, read_, kept_acts_, scratch_;
  DeviceArray<float> step_logits_;  ///< allocated on first use
  DeviceArray<double> block_losses_, cell_losses_, penalties_;
  DeviceArray<float4> coefficients_, block_sums_;
  DeviceArray<unsigned> sync_;
  PinnedArray<float> host_loss_;
  PinnedArray<uint2> errors_;
  DeviceArray<std::uint8_t> fire_;
};

}  // namespace boolgrad::cuda
