#include "boolgrad/cli/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "boolgrad/backend/devices.h"
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

void add_device(CLI::App& command, std::string& device) {
  const auto check = [](const std::string& name) {
    return parse_device(name) ? std::string()
                              : fmt::format("expected cpu, cuda, vulkan or vulkan:N, received {}",
                                            printable(name));
  };
  command.add_option("--device", device, "Where to compute: cpu, cuda, vulkan or vulkan:N")
      ->type_name("D")
      ->check(CLI::Validator(check, ""))
      ->capture_default_str();
}

void check_device(const std::string& device, std::span<const std::string_view> others) {
  if (device == "cpu") return;
  const std::string backend = parse_device(device).value_or(DeviceName{}).backend;
  if (std::ranges::find(others, backend) == others.end()) {
    if (others.empty()) {
      fail("device", "expected cpu, the only device that this runs on so far, received {}", device);
    }
    fail("device", "expected cpu or {}, which this runs on so far, received {}",
         fmt::join(others, " or "), device);
  }
  const std::string why_not = why_unavailable(device);
  if (why_not.empty()) return;
  fail("device", "expected a {} device, received none: {}", backend == "cuda" ? "CUDA" : "Vulkan",
       why_not);
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
