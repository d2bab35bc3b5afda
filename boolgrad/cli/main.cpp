// The program `boolgrad`: parses the command line, runs one command, and turns errors into one line
// and an exit code: 0 success, 1 failure, 2 wrong usage.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "boolgrad/backend/cpu/tensor/row_kernels.h"
#include "boolgrad/cli/command.h"
#include "boolgrad/core/build_info.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/core/text.h"

namespace boolgrad::cli {
namespace {

constexpr int failure = 1;
constexpr int wrong_usage = 2;

constexpr AddCommand commands[] = {add_train,      add_sweep,   add_run,    add_eval,   add_predict,
                                   add_explain,    add_inspect, add_cost,   add_export, add_import,
                                   add_equal,      add_synth,   add_verify, add_bench,  add_devices,
                                   add_completion, add_manual};

/// An option that earlier versions knew by another name. The old name is still accepted.
struct RenamedOption {
  std::string_view command;
  std::string_view old_name;
  std::string_view name;
};

constexpr RenamedOption renamed_options[] = {{"eval", "--grids", "--starts"}};

/// The arguments with present names of options; `notices` receives a line per old name.
std::vector<std::string> renamed_arguments(int argc, const char* const* argv,
                                           std::vector<std::string>& notices) {
  std::vector<std::string> arguments(argv, argv + argc);
  for (const RenamedOption& option : renamed_options) {
    if (arguments.size() < 2 || arguments[1] != option.command) continue;
    const auto is_named = [](std::string_view argument, std::string_view name) {
      return argument.substr(0, argument.find('=')) == name;
    };
    const bool has_new = std::ranges::any_of(
        arguments, [&](const std::string& argument) { return is_named(argument, option.name); });
    for (std::string& argument : arguments) {
      if (!is_named(argument, option.old_name)) continue;
      if (has_new) {
        throw UsageError(fmt::format("expected {} or its old name {}, received both", option.name,
                                     option.old_name));
      }
      argument.replace(0, option.old_name.size(), option.name);
      notices.push_back(fmt::format("{} is now {}", option.old_name, option.name));
    }
  }
  return arguments;
}

std::string version_text() {
  return fmt::format("{}SIMD       {}\nthreads    {}", build_summary(), cpu::instruction_set(),
                     thread_count());
}

void set_up(CLI::App& app, CommonOptions& common, Job& job) {
  app.name("boolgrad");
  app.description("Train Boolean circuits, classifiers and cellular automata with gradients.");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.set_version_flag("--version", version_text, "Print version and build options, and exit");
  app.footer(
      "Example:\n  boolgrad train add\n\n"
      "Run 'boolgrad COMMAND --help' for the options of a command.");
  for (const AddCommand add : commands) add(app, common, job);
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

/// Suggests a command; the parser's own message does not.
void check_command(const CLI::App& app, int argc, const char* const* argv) {
  if (argc < 2) throw UsageError("expected a command, received none; see boolgrad --help");
  const std::string name = argv[1];
  if (name.starts_with('-')) return;
  const std::vector<std::string> names = command_names(app);
  if (std::ranges::find(names, name) == names.end()) {
    throw UsageError(fmt::format("expected a command, received '{}'{}; see boolgrad --help",
                                 printable(name), suggestion(name, names)));
  }
}

void complain(const std::string& message) { print_message("boolgrad: " + message); }

/// Throws for commands whose ranks would all do the same.
void check_ranks(const CLI::App& app, CommonOptions& common) {
  if (common.group->size() == 1) return;
  const std::string& command = app.get_subcommands().front()->get_name();
  constexpr std::array<std::string_view, 4> shared = {"train", "sweep", "run", "devices"};
  if (std::ranges::find(shared, command) == shared.end()) {
    throw UsageError(
        fmt::format("[{}] expected one process, received {} ranks of mpirun: train, "
                    "sweep, run and devices use them",
                    command, common.group->size()));
  }
  if (common.group->is_first()) return;
  common.quiet = true;
  common.json = false;
}

/// Ends all ranks after an error of this one. An error that all of them have is printed once, by
/// the first.
int end_ranks(Group& group, const std::string& message, int code) {
  if (group.size() > 1 && !group.is_first()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // the first one ends this process
    complain(fmt::format("rank {}: {}", group.rank(), message));
  } else {
    complain(message);
  }
  if (group.size() > 1) group.abort(code);
  return code;
}

int run_job(const CommonOptions& common, const Job& job) {
  try {
    if (common.threads > 0) set_thread_count(common.threads);
    return job();
  } catch (const UsageError&) {
    throw;
  } catch (const std::exception& error) {
    if (common.json) print_json({{"error", error.what()}});
    throw;
  }
}

int parse_and_run(int argc, const char* const* argv, Group& group) {
  CLI::App app;
  CommonOptions common;
  common.group = &group;
  Job job;
  set_up(app, common, job);
  check_command(app, argc, argv);
  std::vector<std::string> notices;
  std::vector<std::string> arguments = renamed_arguments(argc, argv, notices);
  arguments.erase(arguments.begin());  // the program's name
  std::ranges::reverse(arguments);     // as the parser expects them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::Success& request) {  // --help or --version
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  if (!job) throw UsageError("expected a command, received none; see boolgrad --help");
  check_ranks(app, common);
  print_notices(notices, common.quiet);
  return run_job(common, job);
}

}  // namespace
}  // namespace boolgrad::cli

int main(int argc, char** argv) {
  using namespace boolgrad::cli;
  using boolgrad::Group;
  // A file that reaches the limit of its size fails like a full disk, with a message.
  std::signal(SIGXFSZ, SIG_IGN);
  std::unique_ptr<Group> opened;
  const auto group = [&]() -> Group& { return opened ? *opened : boolgrad::single_process(); };
  try {
    opened = boolgrad::open_group();
    const int code = parse_and_run(argc, argv, group());
    // Write errors, such as a full disk, may show up only now.
    std::cout.flush();
    if (std::fflush(stdout) != 0 || !std::cout) {
      return end_ranks(group(), "cannot write to standard output", failure);
    }
    return code;
  } catch (const UsageError& error) {
    return end_ranks(group(), error.what(), wrong_usage);
  } catch (const std::bad_alloc&) {
    return end_ranks(group(), "out of memory", failure);
  } catch (const std::exception& error) {
    return end_ranks(group(), error.what(), failure);
  }
}
