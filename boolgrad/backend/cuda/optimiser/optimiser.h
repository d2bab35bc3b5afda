// AdamW on an NVIDIA GPU, with what is done to gradients before it.
//
// No vendor header is included here, so that other modules need not know whether the backend was
// built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/backend/cuda/runtime/memory.h"
#include "boolgrad/backend/options/adamw.h"

struct CUstream_st;

namespace boolgrad::cuda {

using Stream = CUstream_st*;
struct UpdateArguments;

/// The moments of one flat array of parameters, and steps with them. Given the same gradients, the
/// same bits come out as from `optim/`, but for the last bit of norms and noise.
class Optimiser {
 public:
  Optimiser(std::size_t count, const AdamWOptions& options);

  /// Step `step`, counted from 0: clips, adds noise and updates `parameters`, or leaves everything
  /// as it is where a gradient or `loss` (which may be null) is not finite. All three lie on the
  /// device; nothing is waited for.
  void step(float* parameters, const float* gradients, const float* loss, std::int64_t step,
            double learning_rate, Stream stream = nullptr);

  /// On the device: 1 where the last step updated, 0 where something was not finite.
  const int* finite() const { return finite_.data(); }

  std::size_t count() const { return first_.size(); }
  const AdamWOptions& options() const { return options_; }
  DeviceArray<float>& first() { return first_; }
  DeviceArray<float>& second() { return second_; }
  const DeviceArray<float>& first() const { return first_; }
  const DeviceArray<float>& second() const { return second_; }

  /// What kernels that update by themselves need for step `step`.
  UpdateArguments factors(std::int64_t step, double learning_rate) const;

 private:
  AdamWOptions options_;
  DeviceArray<float> first_, second_;
  DeviceArray<double> part_sums_;
  DeviceArray<int> finite_;
};

}  // namespace boolgrad::cuda
