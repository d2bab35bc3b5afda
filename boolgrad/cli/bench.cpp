// `boolgrad bench`: the built-in benchmarks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boolgrad/cli/bench.h"
#include "boolgrad/cli/command.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/core/text.h"

namespace boolgrad::cli {
namespace {

constexpr std::array<Benchmark, 7> benchmarks = {{{"ops", bench_ops},
                                                  {"lut", bench_lut},
                                                  {"wires", bench_wires},
                                                  {"convolutions", bench_convolutions},
                                                  {"automata", bench_automata},
                                                  {"circuit", bench_circuit},
                                                  {"geometry", bench_geometry}}};

std::vector<Benchmark> chosen(const std::string& name) {
  if (name.empty()) return {benchmarks.begin(), benchmarks.end()};
  const auto* const found = std::ranges::find(benchmarks, name, &Benchmark::name);
  if (found != benchmarks.end()) return {*found};
  std::vector<std::string> names;
  for (const Benchmark& benchmark : benchmarks) names.emplace_back(benchmark.name);
  throw UsageError(fmt::format("expected a benchmark ({}), received '{}'{}", fmt::join(names, ", "),
                               printable(name), suggestion(name, names)));
}

nlohmann::json to_json(const BenchmarkRow& row, const Device& device) {
  nlohmann::json object = {{"name", row.name},          {"device", to_string(device)},
                           {"ms", row.time.median_ms},  {"min_ms", row.time.min_ms},
                           {"threads", thread_count()}, {"max_error", row.error}};
  if (row.operations > 0) object["operations"] = row.operations;
  if (row.bytes > 0) object["bytes"] = row.bytes;
  return object;
}

/// Prints rates as a share of the machine's measured peaks, if both are known.
void print_shares(const nlohmann::json& rows, const nlohmann::json& facts) {
  if (!facts.contains("machine")) return;
  // Not measured on GPUs.
  const double gflops = facts["machine"].value("gflops", 0.0);
  const double gigabytes = facts["machine"]["gigabytes"].get<double>();
  fmt::print("\nPeak of this machine: {}copies at {:.0f} GB/s. Reached:\n",
             gflops > 0 ? fmt::format("{:.0f} GFLOP/s, ", gflops) : "", gigabytes);
  for (const nlohmann::json& row : rows) {
    if (!row.contains("operations")) continue;
    const double nanoseconds = row["ms"].get<double>() * 1e6;
    fmt::print("{:<28}{}{:>11.0f}%\n", row["name"].get<std::string>(),
               gflops > 0 ? fmt::format("{:>10.0f}%", 100 * row["operations"].get<double>() /
                                                          nanoseconds / gflops)
                          : "",
               100 * row.value("bytes", 0.0) / nanoseconds / gigabytes);
  }
}

/// Prints the lower bound of a step's time from its memory traffic, if it was measured.
void print_floor(const nlohmann::json& facts) {
  if (!facts.contains("floor")) return;
  const nlohmann::json& floor = facts["floor"];
  const auto number = [&](const char* name) { return floor[name].get<double>(); };
  fmt::print(
      "\nBatch {}: {:.2f} GB through the second-level cache at {:.0f} GB/s, {:.2f} GB through "
      "memory at {:.0f} GB/s.\nLower bound: {:.3f} ms, {:.0f}% of the measured time\n",
      facts["batch"].get<std::int64_t>(), number("cache_gigabyte"),
      number("cache_gigabytes_per_second"), number("memory_gigabyte"),
      number("memory_gigabytes_per_second"), number("ms"), 100 * number("share_reached"));
}

/// The backends other than the CPU that a benchmark supports.
std::span<const Backend> devices_of(const std::string& benchmark) {
  constexpr std::array with_gpus = {"automata", "lut", "wires", "convolutions"};
  if (std::ranges::find(with_gpus, benchmark) != with_gpus.end()) return on_gpus;
  return {};
}

int run(const BenchOptions& options, const CommonOptions& common) {
  const std::vector<Benchmark> selected = chosen(options.name);
  if (!options.plots.empty() && (options.name != "geometry" || !options.file.empty())) {
    throw UsageError("--plots is for the benchmark geometry, without --file");
  }
  check_device(options.device, devices_of(options.name));
  if (!common.quiet) {
    fmt::print("{:<28}{:>12}{:>12}{:>14}\n", "", "median ms", "min ms", "max error");
  }
  nlohmann::json rows = nlohmann::json::array();
  const Report report = [&](const BenchmarkRow& row) {
    if (!common.quiet) {
      fmt::print("{:<28}{:>12.3f}{:>12.3f}{:>14.1e}\n", printable(row.name), row.time.median_ms,
                 row.time.min_ms, row.error);
      std::fflush(stdout);
    }
    rows.push_back(to_json(row, options.device));
  };
  nlohmann::json result = nlohmann::json::object();
  for (const Benchmark& benchmark : selected) benchmark.run(options, report, result);
  if (!common.quiet) print_shares(rows, result);
  if (!common.quiet) print_floor(result);
  result["benchmarks"] = std::move(rows);
  if (common.json) print_json(result);
  return 0;
}

}  // namespace

void add_bench(CLI::App& root, CommonOptions& common, Job& job) {
  CLI::App* command =
      new_command(root, common, "bench", "Run the built-in benchmarks.",
                  "boolgrad bench ops --threads 2 --json",
                  "Benchmarks:\n"
                  "  ops       every op on one million float32 elements\n"
                  "  lut       a training step of 6 layers of 8,000 gates, batch 256\n"
                  "  wires     a training step of 8,000 gates with fixed and with learned wires\n"
                  "  convolutions\n"
                  "            training steps of convolutional classifiers of 28x28 images\n"
                  "  automata  training steps of the built-in automata\n"
                  "  circuit   a hardened network of 6 layers of 8,000 gates on 10,000 images\n"
                  "  geometry  area and gradient of unions of disks, exact and smoothed");
  const auto options = std::make_shared<BenchOptions>();
  command
      ->add_option("name", options->name,
                   "ops, lut, wires, convolutions, automata, circuit or geometry; all by default")
      ->type_name("NAME");
  command
      ->add_option(
          "--file", options->file,
          "Time the contents of a file instead: reference values (ops, disks, automata), a "
          "network with a batch or with images, or a trained automaton")
      ->type_name("FILE");
  command
      ->add_option("--repeat", options->repeat,
                   "Number of timed runs; by default as many as take a third of a second")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  command
      ->add_option("--batch", options->batch,
                   "Batch size of 'lut' on a GPU, where the network has 6 layers of 64,000 gates")
      ->type_name("N")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  command->add_option("--plots", options->plots, "Folder for the plots of 'geometry'")
      ->type_name("DIR");
  add_device(*command, options->device);
  command->callback(
      [options, &common, &job] { job = [options, &common] { return run(*options, common); }; });
}

}  // namespace boolgrad::cli
