// What the benchmarks of training steps share: random images, errors of gradients, timing.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "boolgrad/backend/device/network.h"
#include "boolgrad/cli/bench.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::cli {

/// Random images of bytes in ten classes, and thresholds at equal distances.
struct RandomImages {
  static constexpr std::int64_t side = 28;
  static constexpr std::int64_t classes = 10;

  Tensor features;  ///< uint8 [samples, side * side]
  Tensor labels;    ///< int32 [samples]
  // One per bit, the bits of the lowest threshold first:
  std::vector<std::int32_t> sources;
  std::vector<float> thresholds;

  RandomImages(std::int64_t samples, std::int64_t thresholds_per_pixel);

  /// A program for the network with these images as training samples, and the network's parameters.
  std::unique_ptr<DeviceNetwork> program(const Device& device, const logic::Network& network,
                                         double temperature) const;
};

/// The largest difference of the parameters' gradients from those of `reference`, relative to the
/// largest gradient of each parameter.
double gradient_error(DeviceNetwork& program, DeviceNetwork& reference,
                      const NetworkStepArguments& arguments);

/// The time of a step: takes one, then repeats it `count` times in several rounds.
Timing time_of_step(DeviceNetwork& program, const NetworkStepArguments& arguments, int count);

}  // namespace boolgrad::cli
