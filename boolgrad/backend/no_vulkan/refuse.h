// What every part of the stand-in does. Inside of `no_vulkan/`.
#pragma once

#include "boolgrad/backend/vulkan/runtime/device.h"
#include "boolgrad/core/error.h"

namespace boolgrad::vulkan {

[[noreturn]] inline void refuse() {
  fail("vulkan", "expected a Vulkan device, received none: {}", unavailable());
}

}  // namespace boolgrad::vulkan
