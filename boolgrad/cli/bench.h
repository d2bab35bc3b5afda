// Common parts of the built-in benchmarks.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/logic/network.h"

#include "boolgrad/options/device.h"

namespace boolgrad::cli {

struct BenchOptions {
  std::string name;
  std::string file;
  std::string plots;  ///< folder for plots; empty for none
  Device device = {};
  int repeat = 0;   ///< 0: as many runs as take a third of a second
  int batch = 100;  ///< for 'lut' on a GPU
};

struct Timing {
  double median_ms = 0;
  double min_ms = 0;
};

struct BenchmarkRow {
  std::string name;
  Timing time;
  double error = 0;       ///< relative to a reference
  double operations = 0;  ///< required floating-point operations, if known
  double bytes = 0;       ///< required memory traffic, if known
};

/// Receives the results one by one.
using Report = std::function<void(const BenchmarkRow&)>;

/// A benchmark reports its rows. It may add results about the whole run to `facts`.
struct Benchmark {
  std::string_view name;
  void (*run)(const BenchOptions& options, const Report& report, nlohmann::json& facts);
};

void bench_ops(const BenchOptions& options, const Report& report, nlohmann::json& facts);
void bench_lut(const BenchOptions& options, const Report& report, nlohmann::json& facts);
void bench_lut_on_device(const BenchOptions& options, const Report& report, nlohmann::json& facts);
void bench_wires(const BenchOptions& options, const Report& report, nlohmann::json& facts);
void bench_convolutions(const BenchOptions& options, const Report& report, nlohmann::json& facts);
void bench_automata(const BenchOptions& options, const Report& report, nlohmann::json& facts);
/// The part of `bench_automata` for hardened rules on NVIDIA GPUs.
void bench_hard_on_cuda(const BenchOptions& options, const Report& report, nlohmann::json& facts);
void bench_circuit(const BenchOptions& options, const Report& report, nlohmann::json& facts);
void bench_geometry(const BenchOptions& options, const Report& report, nlohmann::json& facts);

/// 784 inputs and 6 layers of 8,000 random two-input gates.
logic::Network standard_network();

template <class F>
double milliseconds_of(const F& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const auto time = std::chrono::steady_clock::now() - start;
  return std::chrono::duration<double, std::milli>(time).count();
}

/// Runs `work` as a warm-up, then often enough for a median.
template <class F>
Timing measure(const F& work, int repeat) {
  constexpr double warm_up_ms = 100;
  constexpr double measured_ms = 300;
  constexpr int min_runs = 5;
  for (double spent = 0; spent < (repeat > 0 ? 0 : warm_up_ms);) spent += milliseconds_of(work);
  std::vector<double> times;
  double spent = 0;
  const auto enough = [&] {
    const auto runs = static_cast<int>(times.size());
    return repeat > 0 ? runs >= repeat : runs >= min_runs && spent >= measured_ms;
  };
  while (!enough()) {
    times.push_back(milliseconds_of(work));
    spent += times.back();
  }
  std::ranges::sort(times);
  return {times[times.size() / 2], times.front()};
}

}  // namespace boolgrad::cli
