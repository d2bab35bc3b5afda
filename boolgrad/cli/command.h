// Common parts of the commands: options, registration and errors.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "boolgrad/core/group.h"
#include "boolgrad/options/device.h"

namespace boolgrad::cli {

/// Options of every command.
struct CommonOptions {
  bool json = false;
  bool quiet = false;
  int threads = 0;  ///< 0: all hardware threads
  /// The ranks that mpirun has started with this one. Only the first of them prints.
  Group* group = &single_process();
};

/// Invalid command line. Gives exit code 2; all other exceptions give 1.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Executes a command after the command line was parsed. Returns the exit code.
using Job = std::function<int()>;

/// Adds a command to `root`. The command sets `job` if it is chosen.
using AddCommand = void (*)(CLI::App& root, CommonOptions& common, Job& job);

void add_devices(CLI::App& root, CommonOptions& common, Job& job);
void add_verify(CLI::App& root, CommonOptions& common, Job& job);
void add_bench(CLI::App& root, CommonOptions& common, Job& job);
void add_train(CLI::App& root, CommonOptions& common, Job& job);
void add_sweep(CLI::App& root, CommonOptions& common, Job& job);
void add_predict(CLI::App& root, CommonOptions& common, Job& job);
void add_run(CLI::App& root, CommonOptions& common, Job& job);
void add_eval(CLI::App& root, CommonOptions& common, Job& job);
void add_inspect(CLI::App& root, CommonOptions& common, Job& job);
void add_completion(CLI::App& root, CommonOptions& common, Job& job);
void add_manual(CLI::App& root, CommonOptions& common, Job& job);
void add_explain(CLI::App& root, CommonOptions& common, Job& job);
void add_export(CLI::App& root, CommonOptions& common, Job& job);
void add_import(CLI::App& root, CommonOptions& common, Job& job);
void add_equal(CLI::App& root, CommonOptions& common, Job& job);
void add_synth(CLI::App& root, CommonOptions& common, Job& job);
void add_cost(CLI::App& root, CommonOptions& common, Job& job);

/// Adds a command with the common options. `description` is one line; `details` and `example` are
/// shown at the end of its help.
CLI::App* new_command(CLI::App& root, CommonOptions& common, const std::string& name,
                      const std::string& description, const std::string& example,
                      const std::string& details = "");

/// Adds the required argument MODEL. `model` becomes the path of a file, also for a run's folder.
CLI::Option* add_model(CLI::App& command, std::string& model);

/// Adds `--device`.
void add_device(CLI::App& command, Device& device);

/// Throws if `device` is not available or not supported by a command. All commands support the CPU;
/// `others` are the other supported backends.
void check_device(const Device& device, std::span<const Backend> others = {});

/// Backends other than the CPU: of commands for NVIDIA GPUs, and of commands for all GPUs.
inline constexpr std::array on_cuda = {Backend::cuda};
inline constexpr std::array on_gpus = {Backend::cuda, Backend::vulkan};

/// Prints one object on a line. To be called last.
void print_json(const nlohmann::json& object);

/// Prints a message on standard error, safe and whole: wrapped on a terminal, else in one line.
void print_message(std::string_view message);

/// Prints notices on standard error, one per line, unless `quiet`.
void print_notices(std::span<const std::string> notices, bool quiet);

/// ` (did you mean 'verify'?)` if one of `names` is similar, else empty.
std::string suggestion(std::string_view received, std::span<const std::string> names);

}  // namespace boolgrad::cli
