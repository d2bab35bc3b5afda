// What the commands share: their common options, how they are added, and what ends them.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "boolgrad/backend/device/device.h"

namespace boolgrad::cli {

/// Options that every command has.
struct CommonOptions {
  bool json = false;
  bool quiet = false;
  int threads = 0;  ///< 0: as many as the machine has
};

/// The command line was wrong: exit code 2, where every other exception gives 1.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a command does once the whole command line is read. Returns the exit code.
using Job = std::function<int()>;

/// One command: adds itself to `root` and, when it is the one chosen, sets `job`.
using AddCommand = void (*)(CLI::App& root, CommonOptions& common, Job& job);

void add_devices(CLI::App& root, CommonOptions& common, Job& job);
void add_verify(CLI::App& root, CommonOptions& common, Job& job);
void add_bench(CLI::App& root, CommonOptions& common, Job& job);
void add_train(CLI::App& root, CommonOptions& common, Job& job);
void add_sweep(CLI::App& root, CommonOptions& common, Job& job);
void add_run(CLI::App& root, CommonOptions& common, Job& job);
void add_eval(CLI::App& root, CommonOptions& common, Job& job);
void add_inspect(CLI::App& root, CommonOptions& common, Job& job);
void add_export(CLI::App& root, CommonOptions& common, Job& job);

/// A command with the common options and an example under its help.
CLI::App* new_command(CLI::App& root, CommonOptions& common, const std::string& name,
                      const std::string& description, const std::string& example);

/// Adds `--device`.
void add_device(CLI::App& command, Device& device);

/// Throws where a command does not run on `device`, or where it is not there. Every command runs on
/// the CPU; `others` are the devices that it runs on beside that.
void check_device(const Device& device, std::span<const Backend> others = {});

/// The devices beside the CPU of what runs on NVIDIA GPUs, and of what runs on all.
inline constexpr std::array on_cuda = {Backend::cuda};
inline constexpr std::array on_gpus = {Backend::cuda, Backend::vulkan};

/// One object on a line of its own, to be the last that is printed.
void print_json(const nlohmann::json& object);

/// ` (did you mean 'verify'?)` where one of `names` is near, else nothing.
std::string suggestion(std::string_view received, std::span<const std::string> names);

}  // namespace boolgrad::cli
