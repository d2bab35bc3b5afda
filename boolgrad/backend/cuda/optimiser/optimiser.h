// AdamW on an NVIDIA GPU, with gradient clipping and noise.
//
// No vendor header is included here, so that other modules compile without CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/backend/cuda/runtime/memory.h"
#include "boolgrad/options/adamw.h"

struct CUstream_st;

namespace boolgrad::cuda {

using Stream = CUstream_st*;
struct UpdateArguments;

/// The moments of one flat array of parameters, and its update steps. Results are bit-identical to
/// those of `optim/`, except for the last bit of norms and noise.
class Optimiser {
 public:
  Optimiser(std::size_t count, const AdamWOptions& options);

  /// Step `step`, counted from 0: clips, adds noise and updates `parameters`. Changes nothing if a
  /// gradient or `loss` (may be null) is not finite. All pointers are to device memory. Does not
  /// wait.
  void step(float* parameters, const float* gradients, const float* loss, std::int64_t step,
            double learning_rate, Stream stream = nullptr);

  /// On the device: 1 if the last step updated, 0 if something was not finite.
  const int* finite() const { return finite_.data(); }

  std::size_t count() const { return first_.size(); }
  const AdamWOptions& options() const { return options_; }
  DeviceArray<float>& first() { return first_; }
  DeviceArray<float>& second() { return second_; }
  const DeviceArray<float>& first() const { return first_; }
  const DeviceArray<float>& second() const { return second_; }

  /// Arguments for kernels that perform the update of step `step` themselves.
  UpdateArguments factors(std::int64_t step, double learning_rate) const;

 private:
  AdamWOptions options_;
  DeviceArray<float> first_, second_;
  DeviceArray<double> part_sums_;
  DeviceArray<int> finite_;
};

}  // namespace boolgrad::cuda
