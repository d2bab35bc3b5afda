// A run whose device is lost. Skipped without a device.
#include <gtest/gtest.h>

#include "boolgrad/backend/vulkan/runtime/context.h"
#include "boolgrad/train/run/checkpoint.h"
#include "boolgrad/train/run/run.h"
#include "boolgrad/train/search/trainer.h"
#include "tests/support/devices.h"
#include "tests/support/messages.h"
#include "tests/support/scratch.h"
#include "tests/support/tensor_files.h"

namespace boolgrad::train {
namespace {

/// The result of a driver that was reset.
VKAPI_ATTR VkResult VKAPI_CALL submit_to_lost_device(VkQueue /*queue*/, std::uint32_t /*count*/,
                                                     const VkSubmitInfo* /*submissions*/,
                                                     VkFence /*fence*/) {
  return VK_ERROR_DEVICE_LOST;
}

Experiment small_checkerboard() {
  return parse_experiment(R"(
    [task]
    kind = "checkerboard"
    [automaton]
    channels = 2
    kernels = 2
    perceive = [8, 4, 2]
    update = [16, 8]
    height = 6
    width = 6
    steps = 3
    [network]
    parametrisation = "sigmoid"
    [training]
    steps = 12
    checkpoint_every = 5
  )",
                          "test", "small", ".");
}

TEST(VulkanLostDevice, GivesOneLineAndKeepsTheLastCheckpoint) {
  if (!vulkan::unavailable().empty()) GTEST_SKIP() << vulkan::unavailable();
  vulkan::Functions& vk = vulkan::Context::get(0).functions();
  const PFN_vkQueueSubmit submit = vk.QueueSubmit;
  const testing_support::ScratchFolder folder;
  RunOptions options{.folder = folder.path()};
  int steps = 0;
  options.stop = [&] {
    if (++steps == 8) vk.QueueSubmit = submit_to_lost_device;
    return false;
  };
  expect_error(
      [&] { run_experiment(small_checkerboard(), options, vulkan_device); },
      "[vulkan] cannot submit work to the device: the device was lost; its driver was reset "
      "or aborted a long submission");
  vk.QueueSubmit = submit;

  Trainer stopped(small_checkerboard());
  stopped.restore(load_checkpoint(folder / checkpoint_file).state, "checkpoint");
  EXPECT_EQ(stopped.steps(), 5);
  run_experiment(small_checkerboard(), {.folder = folder.path(), .resume = true}, vulkan_device);
  const testing_support::ScratchFolder other;
  run_experiment(small_checkerboard(), {.folder = other.path()}, vulkan_device);
  expect_same(load_safetensors(folder / model_file), load_safetensors(other / model_file));
}

}  // namespace
}  // namespace boolgrad::train
