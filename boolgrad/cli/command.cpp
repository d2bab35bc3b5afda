#include "boolgrad/cli/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "boolgrad/backend/cuda/device.h"
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
  command.add_option("--device", device, "Where to compute: cpu, cuda or vulkan")
      ->type_name("D")
      ->check(CLI::IsMember({"cpu", "cuda", "vulkan"}))
      ->capture_default_str();
}

void check_device(const std::string& device, std::span<const std::string_view> others) {
  if (device == "cpu") return;
  if (std::ranges::find(others, device) == others.end()) {
    if (others.empty()) {
      fail("device", "expected cpu, the only device that this runs on so far, received {}", device);
    }
    fail("device", "expected cpu or {}, which this runs on so far, received {}",
         fmt::join(others, " or "), device);
  }
  const std::string why_not = cuda::unavailable();
  if (!why_not.empty()) fail("device", "expected a CUDA device, received none: {}", why_not);
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
