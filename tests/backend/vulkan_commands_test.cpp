// Vulkan memory and commands. Skipped without a device.
#include "boolgrad/backend/vulkan/runtime/commands.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/backend/vulkan/runtime/memory.h"
#include "boolgrad/core/error.h"
#include "tests/support/messages.h"

namespace boolgrad::vulkan {
namespace {

class VulkanCommands : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why_not = unavailable();
    if (!why_not.empty()) GTEST_SKIP() << why_not;
  }

  Context& context() { return Context::get(0); }
};

std::string message_of(const auto& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_F(VulkanCommands, BuffersRoundTrip) {
  // Less than a word, and more than one staging buffer.
  for (const std::size_t count : {1U, 3U, 4U, 1000U, 20'000'001U}) {
    std::vector<std::uint8_t> bytes(count);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{7});
    Array<std::uint8_t> array(context(), bytes);
    EXPECT_EQ(array.values(), bytes) << count;
    array.clear();
    EXPECT_EQ(array.values(), std::vector<std::uint8_t>(count)) << count;
  }
}

TEST_F(VulkanCommands, PartsOfBuffersAreCopied) {
  Array<std::uint32_t> array(context(), std::vector<std::uint32_t>{1, 2, 3, 4, 5});
  array.upload(std::vector<std::uint32_t>{8, 9}, 2);
  EXPECT_EQ(array.values(), (std::vector<std::uint32_t>{1, 2, 8, 9, 5}));
  EXPECT_EQ(array.values(3, 2), (std::vector<std::uint32_t>{9, 5}));
}

TEST_F(VulkanCommands, CommandsRunRepeatedly) {
  const Array<std::uint32_t> from(context(), 4, MemoryUse::from_host);
  const Array<std::uint32_t> to(context(), 4, MemoryUse::to_host);
  CommandRecorder copy(context());
  copy.copy(from.buffer(), 0, to.buffer(), 0, 16);
  for (std::uint32_t run = 1; run < 4; ++run) {
    from.shared()[2] = run;
    copy.run();
    EXPECT_EQ(to.shared()[2], run);
  }
}

TEST_F(VulkanCommands, OutOfMemoryNamesTheSizes) {
  const std::string message =
      message_of([&] { const Buffer buffer(context(), std::size_t{1} << 50); });
  EXPECT_NE(message.find("[vulkan] out of device memory: 1126 TB requested, "), std::string::npos)
      << message;
  EXPECT_TRUE(message.ends_with(" free")) << message;
}

TEST_F(VulkanCommands, ValidationMessagesAreErrors) {
  const char* validates = std::getenv("BOOLGRAD_VULKAN_VALIDATION");
  if (validates == nullptr || std::string_view(validates) != "1") {
    GTEST_SKIP() << "BOOLGRAD_VULKAN_VALIDATION is not 1";
  }
  const Buffer small(context(), 64);
  const Buffer large(context(), 256);
  CommandRecorder invalid(context());
  invalid.copy(large, 0, small, 0, 256);
  const std::string message = message_of([&] { invalid.run(); });
  EXPECT_TRUE(message.starts_with("[vulkan] validation layers: \"Validation Error: ")) << message;
  EXPECT_NE(message.find("vkCmdCopyBuffer"), std::string::npos) << message;
}

TEST(VulkanErrors, SayWhatFailed) {
  expect_error([] { check(VK_ERROR_DEVICE_LOST, "wait for the device"); },
               "[vulkan] cannot wait for the device: the device was lost; its driver was reset or "
               "aborted a long submission");
  expect_error([] { check(VK_TIMEOUT, "wait for the device"); },
               "[vulkan] cannot wait for the device: timeout");
}

}  // namespace
}  // namespace boolgrad::vulkan
