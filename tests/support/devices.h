// What tests share that run on every device but the CPU.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "boolgrad/backend/devices.h"
#include "tests/support/cuda.h"

namespace boolgrad {

/// Of the device that its parameter names; skipped where that is not there.
class DeviceTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string why_not = why_unavailable(GetParam());
    if (!why_not.empty()) GTEST_SKIP() << why_not;
  }

  const std::string& device() const { return GetParam(); }
};

/// Every device, and what a test is called there.
inline const auto all_other_devices = testing::Values("cuda", "vulkan");
inline std::string name_of_device(const testing::TestParamInfo<std::string>& info) {
  return info.param;
}

}  // namespace boolgrad
