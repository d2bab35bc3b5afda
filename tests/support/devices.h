// Fixtures for tests that run on every GPU backend.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "boolgrad/backend/device/devices.h"
#include "tests/support/cuda.h"

namespace boolgrad {

inline constexpr Device cpu_device{};
inline constexpr Device cuda_device{Backend::cuda};
inline constexpr Device vulkan_device{Backend::vulkan};

/// A test on the device of its parameter; skipped if the device is not available.
class DeviceTest : public testing::TestWithParam<Device> {
 protected:
  void SetUp() override {
    const std::string why_not = why_unavailable(GetParam());
    if (!why_not.empty()) GTEST_SKIP() << why_not;
  }

  const Device& device() const { return GetParam(); }
};

/// All devices, and their names in test names.
inline const auto all_other_devices = testing::Values(cuda_device, vulkan_device);
inline std::string name_of_device(const testing::TestParamInfo<Device>& info) {
  return to_string(info.param);
}

}  // namespace boolgrad
