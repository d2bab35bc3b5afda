// The program `boolgrad`: reads the command line, runs one command, turns what went wrong into one
// line and an exit code: 0 success, 1 failure, 2 wrong usage.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
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

constexpr AddCommand commands[] = {add_train,  add_sweep,  add_run,   add_eval,   add_inspect,
                                   add_export, add_verify, add_bench, add_devices};

std::string version_text() {
  return fmt::format("{}SIMD       {}\nthreads    {}", build_summary(), cpu::instruction_set(),
                     thread_count());
}

void set_up(CLI::App& app, CommonOptions& common, Job& job) {
  app.name("boolgrad");
  app.description("Trains Boolean structure with gradients.");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.set_version_flag("--version", version_text, "Print what was built and exit");
  app.footer("Example:\n  boolgrad verify\n\n'boolgrad COMMAND --help' tells more.");
  for (const AddCommand add : commands) add(app, common, job);
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

/// The parser's own message for a wrong command does not say which one was meant.
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

void complain(const std::string& message) {
  // Not fmt::print, which throws where standard error is closed.
  std::fputs(fmt::format("boolgrad: {}\n", printable(message)).c_str(), stderr);
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

int parse_and_run(int argc, const char* const* argv) {
  CLI::App app;
  CommonOptions common;
  Job job;
  set_up(app, common, job);
  check_command(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help or --version
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  if (!job) throw UsageError("expected a command, received none; see boolgrad --help");
  return run_job(common, job);
}

}  // namespace
}  // namespace boolgrad::cli

int main(int argc, char** argv) {
  using namespace boolgrad::cli;
  try {
    const int code = parse_and_run(argc, argv);
    // What cannot be written, to a full disk for one, is only known after the last of it.
    std::cout.flush();
    if (std::fflush(stdout) != 0 || !std::cout) {
      complain("expected to write to standard output, received an error");
      return failure;
    }
    return code;
  } catch (const UsageError& error) {
    complain(error.what());
    return wrong_usage;
  } catch (const std::bad_alloc&) {
    complain("expected more memory, received none");
  } catch (const std::exception& error) {
    complain(error.what());
  }
  return failure;
}
