// The error of every function in `no_vulkan/`. Internal to it.
#pragma once

#include "boolgrad/backend/vulkan/runtime/device.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::vulkan {

[[noreturn]] inline void refuse() {
  fail("vulkan", "no Vulkan device available: {}", unavailable());
}

}  // namespace boolgrad::vulkan
