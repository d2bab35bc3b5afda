// `boolgrad devices`: lists devices and their features.
#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "boolgrad/backend/device/capabilities.h"
#include "boolgrad/backend/device/devices.h"
#include "boolgrad/cli/command.h"
#include "boolgrad/core/group.h"
#include "boolgrad/core/host_name.h"
#include "boolgrad/core/parallel.h"
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

/// Names of supported or unsupported features.
nlohmann::json features_json(Backend backend, bool supported) {
  nlohmann::json names = nlohmann::json::array();
  for (const FeatureText& text : feature_texts()) {
    if (supports(backend, text.feature) == supported) names.push_back(text.name);
  }
  return names;
}

nlohmann::json to_json(const DeviceDescription& device) {
  return {{"device", device.device},
          {"name", device.name},
          {"kind", device.kind},
          {"memory", device.memory},
          {"driver", device.driver},
          {"runs", device.runs},
          {"usable", device.why_not.empty()},
          {"why_not", device.why_not},
          {"unsupported", features_json(device.backend, false)}};
}

/// A line per rank: where it runs, and with how many threads.
std::vector<std::string> ranks_of(Group& group) {
  constexpr std::size_t longest = 256;
  std::string own =
      fmt::format("rank {}, {}, {} threads", group.rank(), host_name(), thread_count());
  own.resize(longest);
  std::string all(longest * static_cast<std::size_t>(group.size()), 0);
  group.all_gather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
  std::vector<std::string> ranks;
  for (std::size_t begin = 0; begin < all.size(); begin += longest) {
    ranks.emplace_back(all.c_str() + begin);
  }
  return ranks;
}

std::string mpi_text(const Group& group) {
  if (group.size() > 1) return fmt::format("{}, {} ranks", group.transport(), group.size());
  const std::string why_not = why_no_mpi();
  return why_not.empty() ? "built in; mpirun starts ranks" : "none: " + printable(why_not);
}

int run(bool shows_capabilities, const CommonOptions& common) {
  if (shows_capabilities && !common.quiet) fmt::print("{}", capability_table());
  nlohmann::json all = nlohmann::json::array();
  for (const DeviceDescription& device : all_devices()) {
    if (!common.quiet && !shows_capabilities) print(device);
    all.push_back(to_json(device));
  }
  const std::vector<std::string> ranks = ranks_of(*common.group);
  if (!common.quiet && !shows_capabilities) {
    fmt::print("{:<10}{}\n", "mpi", mpi_text(*common.group));
    for (const std::string& rank : ranks) {
      if (ranks.size() > 1) fmt::print("{:<10}{}\n", "", printable(rank));
    }
  }
  if (common.json) {
    print_json({{"devices", all}, {"mpi", mpi_text(*common.group)}, {"ranks", ranks}});
  }
  return 0;
}

}  // namespace

void add_devices(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command =
      new_command(root, common, "devices", "List devices and what they support.",
                  "boolgrad devices\n  boolgrad devices --capabilities\n"
                  "  boolgrad train checkerboard --device vulkan:1",
                  "Prints name, kind, memory, driver and supported features of each device. If a "
                  "device\ncannot be used, prints the reason.");
  const auto shows_capabilities = std::make_shared<bool>(false);
  command->add_flag("--capabilities", *shows_capabilities,
                    "Print the features of all backends as a Markdown table");
  command->callback([shows_capabilities, &common, &job] {
    job = [shows_capabilities, &common] { return run(*shows_capabilities, common); };
  });
}

}  // namespace boolgrad::cli
