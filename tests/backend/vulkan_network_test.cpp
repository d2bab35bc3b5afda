// Networks on a Vulkan device: size limits, and optional device features. Skipped without a device.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "boolgrad/backend/device/devices.h"
#include "boolgrad/backend/device/network.h"
#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/backend/vulkan/runtime/context.h"
#include "boolgrad/logic/wiring.h"
#include "tests/support/devices.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace boolgrad {
namespace {

TEST(VulkanNetwork, RejectsNetworksThatExceed32BitIndices) {
  if (!why_unavailable(vulkan_device).empty()) GTEST_SKIP() << why_unavailable(vulkan_device);
  const logic::WiringPtr wiring = logic::random_wiring({3, 8}, 1, 0);
  const LutWires wires = wiring->view();
  expect_error(
      [&] {
        make_device_network(vulkan_device, {&wires, 1}, {.batch = std::int64_t{1} << 28});
      },
      "[vulkan] expected fewer than 2^31 logits and activations, received 8 gates and a batch of "
      "268435456");
}

/// Gradients of a layer of gates with `arity` inputs over some samples.
Tensor gradients_of(int arity, std::int64_t samples) {
  const logic::WiringPtr wiring = logic::random_wiring({9, 21, arity}, 1, 0);
  const LutWires wires = wiring->view();
  const auto network = make_device_network(
      vulkan_device, {&wires, 1}, {.batch = samples, .parametrisation = Parametrisation::sigmoid});
  const auto random = [](const Shape& shape, std::uint64_t seed) {
    return random_tensor(shape, DType::float32, seed, {.low = 0.05, .high = 0.95, .kinks = {}});
  };
  network->set_cases(DataRole::training, random({9, samples}, 1), random({21, samples}, 2));
  const std::vector<Tensor> logits{random({21, std::int64_t{1} << arity}, 3)};
  const std::vector<Tensor> masks{Tensor::ones({21}, DType::float32)};
  network->set_parameters(logits, masks, Tensor::ones({9}, DType::float32));
  network->gradients({});
  return network->parameter_gradients().front();
}

struct Summed {
  Tensor gradients;
  bool directly = false;  ///< whether threads exchanged sums by subgroup shuffles
};

Summed summed(int subgroup, int arity, std::int64_t samples) {
  vulkan::Context::get(0).set_subgroup(subgroup);
  ::setenv("BOOLGRAD_VULKAN_TIMES", "1", 1);
  testing::internal::CaptureStderr();
  const Tensor gradients = gradients_of(arity, samples);
  const std::string times = testing::internal::GetCapturedStderr();
  ::unsetenv("BOOLGRAD_VULKAN_TIMES");
  return {gradients, times.find("network/sums.subgroups\n") != std::string::npos};
}

TEST(VulkanNetwork, SubgroupSumsAreBitIdentical) {
  if (!why_unavailable(vulkan_device).empty()) GTEST_SKIP() << why_unavailable(vulkan_device);
  vulkan::Context& context = vulkan::Context::get(0);
  const int subgroup = context.subgroup();
  if (subgroup == 1) GTEST_SKIP() << "the device promises no size of subgroups";
  for (const int arity : {1, 2, 3, 4, 6}) {
    for (const std::int64_t samples : {1, 7, 30, 99, 700}) {
      const Summed direct = summed(subgroup, arity, samples);
      const Summed shared = summed(1, arity, samples);
      EXPECT_TRUE(direct.directly);
      EXPECT_FALSE(shared.directly);
      EXPECT_TRUE(same_bits(direct.gradients, shared.gradients))
          << arity << " inputs, " << samples << " samples";
    }
  }
  context.set_subgroup(subgroup);
}

}  // namespace
}  // namespace boolgrad
