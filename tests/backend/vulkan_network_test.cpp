// What networks ask of a Vulkan device that it cannot have. Skipped where there is no device.
#include <gtest/gtest.h>

#include "boolgrad/backend/device_network.h"
#include "boolgrad/backend/devices.h"
#include "boolgrad/logic/wiring.h"
#include "tests/support/messages.h"

namespace boolgrad {
namespace {

TEST(VulkanNetwork, RefusesMoreThanShadersCount) {
  if (!why_unavailable("vulkan").empty()) GTEST_SKIP() << why_unavailable("vulkan");
  const WiringPtr wiring = random_wiring({3, 8}, 1, 0);
  const LutWires wires = wiring->view();
  expect_error(
      [&] {
        make_device_network("vulkan", {&wires, 1}, {.batch = std::int64_t{1} << 28});
      },
      "[vulkan] expected fewer than 2^31 logits and activations, received 8 gates and a batch of "
      "268435456");
}

}  // namespace
}  // namespace boolgrad
