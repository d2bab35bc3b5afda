#include "boolgrad/cli/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "boolgrad/backend/device/devices.h"
#include "boolgrad/core/error.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"
#include "boolgrad/core/tty.h"
#include "boolgrad/model/model.h"

namespace boolgrad::cli {

CLI::App* new_command(CLI::App& root, CommonOptions& common, const std::string& name,
                      const std::string& description, const std::string& example,
                      const std::string& details) {
  constexpr int max_threads = 1024;
  CLI::App* command = root.add_subcommand(name, description);
  command->footer((details.empty() ? "" : details + "\n\n") + "Example:\n  " + example);
  command->add_flag("--json", common.json, "Print one JSON object on the last line");
  command->add_flag("--quiet", common.quiet, "Print nothing but errors and the JSON object");
  command->add_option("--threads", common.threads, "Number of threads; all by default")
      ->type_name("N")
      ->check(CLI::Range(1, max_threads));
  return command;
}

CLI::Option* add_model(CLI::App& command, std::string& model) {
  const auto read = [&model](const std::string& given) {
    try {
      model = model_path(given).string();
    } catch (const Error&) {
      model = given;  // the command will say what is wrong
    }
  };
  return command
      .add_option_function<std::string>("model", read, "Model, checkpoint or folder of a run")
      ->type_name("MODEL")
      ->required();
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
                                        fmt::format("Device to compute on: {}", device_names))
      ->type_name("D")
      ->default_str(to_string(device));
}

void check_device(const Device& device, std::span<const Backend> others) {
  if (device.is_cpu()) return;
  if (std::ranges::find(others, device.backend) == others.end()) {
    if (others.empty()) {
      fail("device", "expected cpu, the only supported device here, received {}",
           to_string(device));
    }
    std::vector<std::string_view> names;
    for (const Backend backend : others) names.push_back(to_string(backend));
    fail("device", "expected cpu or {}, the supported devices here, received {}",
         fmt::join(names, " or "), to_string(device));
  }
  const std::string why_not = why_unavailable(device);
  if (why_not.empty()) return;
  fail("device", "no usable {} device: {}", device.backend == Backend::cuda ? "CUDA" : "Vulkan",
       why_not);
}

void print_json(const nlohmann::json& object) {
  // Names from a file may contain invalid UTF-8.
  fmt::print("{}\n", object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_notices(std::span<const std::string> notices, bool quiet) {
  if (quiet) return;
  for (const std::string& notice : notices) print_message("note: " + notice);
}

void print_message(std::string_view message) {
  std::string text = printable(message, 4 * message.size());
  if (is_terminal(stderr)) text = wrapped(text, terminal_size(stderr).columns - 1);
  // Not fmt::print, which throws where standard error is closed.
  std::fputs((text + "\n").c_str(), stderr);
}

std::string suggestion(std::string_view received, std::span<const std::string> names) {
  const auto nearest = nearest_name(received, names);
  return nearest ? fmt::format(" (did you mean '{}'?)", *nearest) : "";
}

}  // namespace boolgrad::cli
