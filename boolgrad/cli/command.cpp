#include "boolgrad/cli/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "boolgrad/backend/device/devices.h"
#include "boolgrad/core/error.h"
#include "boolgrad/core/text.h"

namespace boolgrad::cli {

CLI::App* new_command(CLI::App& root, CommonOptions& common, const std::string& name,
                      const std::string& description, const std::string& example) {
  constexpr int most_threads = 1024;
  CLI::App* command = root.add_subcommand(name, description);
  command->footer("Example:\n  " + example);
  command->add_flag("--json", common.json, "Print one JSON object on the last line");
  command->add_flag("--quiet", common.quiet, "Print nothing else");
  command->add_option("--threads", common.threads, "Threads to use; all by default")
      ->type_name("N")
      ->check(CLI::Range(1, most_threads));
  return command;
}

void add_device(CLI::App& command, Device& device) {
  const auto read = [&device](const std::string& name) {
    const std::optional<Device> parsed = parse_device(name);
    if (!parsed) {
      throw CLI::ValidationError(
          "--device", fmt::format("expected {}, received {}", device_names, printable(name)));
    }
    device = *parsed;
  };
  command
      .add_option_function<std::string>("--device", read,
                                        fmt::format("Where to compute: {}", device_names))
      ->type_name("D")
      ->default_str(to_string(device));
}

void check_device(const Device& device, std::span<const Backend> others) {
  if (device.is_cpu()) return;
  if (std::ranges::find(others, device.backend) == others.end()) {
    if (others.empty()) {
      fail("device", "expected cpu, the only device that this runs on so far, received {}",
           to_string(device));
    }
    std::vector<std::string_view> names;
    for (const Backend backend : others) names.push_back(to_string(backend));
    fail("device", "expected cpu or {}, which this runs on so far, received {}",
         fmt::join(names, " or "), to_string(device));
  }
  const std::string why_not = why_unavailable(device);
  if (why_not.empty()) return;
  fail("device", "expected a {} device, received none: {}",
       device.backend == Backend::cuda ? "CUDA" : "Vulkan", why_not);
}

void print_json(const nlohmann::json& object) {
  // Names from a file may hold bytes that are no text.
  fmt::print("{}\n", object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string suggestion(std::string_view received, std::span<const std::string> names) {
  const auto nearest = nearest_name(received, names);
  return nearest ? fmt::format(" (did you mean '{}'?)", *nearest) : "";
}

}  // namespace boolgrad::cli
