// Samples of a network on the device. Internal to `cuda/`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "boolgrad/backend/cuda/network/arguments.h"
#include "boolgrad/backend/cuda/runtime/memory.h"
#include "boolgrad/backend/device/network.h"
#include "boolgrad/backend/plan/network_buffers.h"

namespace boolgrad::cuda {

template <class T>
DeviceArray<T> on_device(const Tensor& tensor) {
  DeviceArray<T> result(static_cast<std::size_t>(tensor.size()));
  result.upload(tensor.values<T>().data(), result.size());
  return result;
}

/// Inputs of samples: rows of floats, or features that are thresholded on use.
struct NetworkData {
  std::size_t samples = 0;
  DeviceArray<float> rows;     ///< [inputs, samples]; else:
  DeviceArray<InputBit> bits;  ///< [inputs]
  DeviceArray<std::uint8_t> bytes;
  DeviceArray<float> floats;
  DeviceArray<float> soft_targets;  ///< [samples, classes], or empty
  std::int64_t features = 0;
  bool has_images = false;  ///< images may be transformed
  std::int64_t height = 1;
  std::int64_t width = 1;

  bool has_features() const { return bits.size() > 0; }

  static NetworkData of_cases(const Tensor& inputs) {
    NetworkData data;
    data.samples = static_cast<std::size_t>(inputs.shape()[1]);
    data.rows = on_device<float>(inputs);
    return data;
  }

  static NetworkData of_features(const FeatureSamples& samples) {
    NetworkData data;
    data.samples = static_cast<std::size_t>(samples.features.shape()[0]);
    data.bits = DeviceArray<InputBit>(input_bits_of(samples));
    if (samples.features.dtype() == DType::uint8) {
      data.bytes = on_device<std::uint8_t>(samples.features);
    } else {
      data.floats = on_device<float>(samples.features);
    }
    if (samples.soft_targets.defined()) data.soft_targets = on_device<float>(samples.soft_targets);
    data.features = samples.features.shape()[1];
    data.has_images = samples.height > 0;
    data.height = data.has_images ? samples.height : 1;
    data.width = data.has_images ? samples.width : 1;
    return data;
  }
};

}  // namespace boolgrad::cuda
