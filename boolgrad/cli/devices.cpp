// `boolgrad devices`: where there is to compute on, and why not elsewhere.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "boolgrad/backend/device/devices.h"
#include "boolgrad/cli/command.h"
#include "boolgrad/core/text.h"

namespace boolgrad::cli {
namespace {

void print(const DeviceDescription& device) {
  std::string text = fmt::format("{:<10}", device.device);
  if (device.name.empty()) {
    fmt::print("{}none: {}\n", text, printable(device.why_not));
    return;
  }
  text += fmt::format("{}, {}", printable(device.name), device.kind);
  if (device.memory > 0) text += ", " + bytes_text(device.memory);
  if (!device.driver.empty()) text += ", driver " + printable(device.driver);
  fmt::print("{}\n{:<10}{}\n", text, "",
             device.why_not.empty() ? device.runs : "cannot be used: " + printable(device.why_not));
}

nlohmann::json to_json(const DeviceDescription& device) {
  return {{"device", device.device},          {"name", device.name},      {"kind", device.kind},
          {"memory", device.memory},          {"driver", device.driver},  {"runs", device.runs},
          {"usable", device.why_not.empty()}, {"why_not", device.why_not}};
}

int run(const CommonOptions& common) {
  nlohmann::json all = nlohmann::json::array();
  for (const DeviceDescription& device : all_devices()) {
    if (!common.quiet) print(device);
    all.push_back(to_json(device));
  }
  if (common.json) print_json({{"devices", all}});
  return 0;
}

}  // namespace

void add_devices(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command = new_command(
      root, common, "devices",
      "Lists where there is to compute on: name, kind, memory, driver, what runs there and, where "
      "nothing does, why not.",
      "boolgrad devices\n  boolgrad train checkerboard --device vulkan:1");
  command->callback([&common, &job] { job = [&common] { return run(common); }; });
}

}  // namespace boolgrad::cli
