// `boolgrad devices`, and commands on missing or unsupported devices.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boolgrad/backend/device/capabilities.h"
#include "boolgrad/backend/device/devices.h"
#include "tests/cli/run_cli.h"
#include "tests/support/devices.h"

namespace boolgrad {
namespace {

using testing_support::CliResult;
using testing_support::run_cli;

/// Hides all drivers from the Vulkan loader during its lifetime.
class WithoutDrivers {
 public:
  WithoutDrivers() {
    setenv("VK_ICD_FILENAMES", "/nonexistent.json", 1);
    setenv("VK_DRIVER_FILES", "/nonexistent.json", 1);
  }
  ~WithoutDrivers() {
    unsetenv("VK_ICD_FILENAMES");
    unsetenv("VK_DRIVER_FILES");
  }
  WithoutDrivers(const WithoutDrivers&) = delete;
  WithoutDrivers& operator=(const WithoutDrivers&) = delete;
};

TEST(Devices, AreListedWithTheirFeatures) {
  const CliResult result = run_cli({"devices", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  const nlohmann::json devices = result.json()["devices"];
  ASSERT_GE(devices.size(), 3U);
  EXPECT_EQ(devices[0]["device"], "cpu");
  EXPECT_EQ(devices[0]["runs"], "everything");
  EXPECT_EQ(devices[1]["device"], "cuda");
  EXPECT_TRUE(devices[2]["device"].get<std::string>().starts_with("vulkan"));
  for (const nlohmann::json& device : devices) {
    EXPECT_EQ(device["usable"].get<bool>(), device["why_not"].get<std::string>().empty());
    EXPECT_NE(device["usable"].get<bool>(), device["runs"].get<std::string>().empty()) << device;
    EXPECT_NE(result.out.find(device["device"].get<std::string>()), std::string::npos);
  }
}

TEST(Devices, ListUnsupportedFeatures) {
  const CliResult result = run_cli({"devices", "--json"});
  const nlohmann::json report = result.json();
  for (const nlohmann::json& device : report["devices"]) {
    const bool is_cpu = device["device"] == "cpu";
    std::vector<std::string> missing;
    if (!is_cpu) missing = {"double precision", "gate penalty of networks"};
    EXPECT_EQ(device["unsupported"], nlohmann::json(missing));
    if (!device["usable"].get<bool>()) continue;
    EXPECT_EQ(device["runs"], is_cpu
                                  ? "everything"
                                  : fmt::format("everything except {}", fmt::join(missing, ", ")));
    EXPECT_NE(result.out.find(device["runs"].get<std::string>()), std::string::npos);
  }
}

TEST(Devices, ShowTheTableOfCapabilities) {
  const CliResult result = run_cli({"devices", "--capabilities"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, capability_table());
}

TEST(Devices, OtherDevicesWorkWithoutADriver) {
  if (!why_unavailable(vulkan_device).empty()) GTEST_SKIP() << why_unavailable(vulkan_device);
  const WithoutDrivers without;
  const std::string why_not =
      "no driver found (Debian: mesa-vulkan-drivers, or the driver of the vendor)";
  CliResult result = run_cli({"devices", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  const nlohmann::json last = result.json()["devices"].back();
  EXPECT_EQ(last["device"], "vulkan");
  EXPECT_EQ(last["usable"], false);
  EXPECT_EQ(last["why_not"], why_not);
  result = run_cli({"verify", "--device", "vulkan"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.complaint(), "[device] no usable Vulkan device: " + why_not);
  EXPECT_EQ(run_cli({"verify"}).code, 0);
}

TEST(Devices, AMissingDeviceIsRejected) {
  if (!why_unavailable(vulkan_device).empty()) GTEST_SKIP() << why_unavailable(vulkan_device);
  const CliResult result = run_cli({"verify", "--device", "vulkan:999"});
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.complaint().find(" only vulkan:0"), std::string::npos) << result.complaint();
}

TEST(Devices, CommandsWithoutVulkanSupportSaySo) {
  if (!why_unavailable(vulkan_device).empty()) GTEST_SKIP() << why_unavailable(vulkan_device);
  const CliResult result = run_cli({"bench", "geometry", "--device", "vulkan"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.complaint(),
            "[device] expected cpu, the only supported device here, received vulkan");
}

TEST(Devices, VulkanMeetsTheReferenceValues) {
  if (!why_unavailable(vulkan_device).empty()) GTEST_SKIP() << why_unavailable(vulkan_device);
  const CliResult result = run_cli({"verify", "--device", "vulkan", "--quiet", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  const nlohmann::json values = result.json();
  EXPECT_GT(values["cases"].size(), 20U);
  for (const nlohmann::json& of : values["cases"]) {
    EXPECT_LE(of["max_error"].get<double>(), 1e-5) << of;
  }
  const bool same_bits =
      run_cli({"verify", "--device", "vulkan:0", "--quiet", "--json"}).out == result.out;
  EXPECT_TRUE(same_bits);
}

}  // namespace
}  // namespace boolgrad
