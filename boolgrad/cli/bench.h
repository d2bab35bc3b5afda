// What the built-in benchmarks share.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/logic/network.h"

#include "boolgrad/backend/device/device.h"

namespace boolgrad::cli {

struct BenchOptions {
  std::string name;
  std::string file;
  std::string plots;  ///< folder for plots of what was measured; none where empty
  Device device = {};
  int repeat = 0;   ///< 0: as often as fits a third of a second
  int batch = 100;  ///< of 'lut' on a GPU
};

struct Timing {
  double median_ms = 0;
  double least_ms = 0;
};

struct BenchmarkRow {
  std::string name;
  Timing time;
  double error = 0;     ///< of the result, relative to a reference
  double gflop = 0;     ///< operations that the task needs, where they are known
  double gigabyte = 0;  ///< bytes that it has to move
};

/// What takes the results as they come.
using Report = std::function<void(const BenchmarkRow&)>;

/// A benchmark reports its rows and may add facts about the run as a whole to `facts`.
struct Benchmark {
  std::string_view name;
  void (*run)(const BenchOptions& options, const Report& report, nlohmann::json& facts);
};

void bench_ops(const BenchOptions& options, const Report& report, nlohmann::json& facts);
void bench_lut(const BenchOptions& options, const Report& report, nlohmann::json& facts);
void bench_lut_on_device(const BenchOptions& options, const Report& report, nlohmann::json& facts);
void bench_automata(const BenchOptions& options, const Report& report, nlohmann::json& facts);
/// Its part for the hardened rule of a model on the GPU.
void bench_hard_on_cuda(const BenchOptions& options, const Report& report, nlohmann::json& facts);
void bench_circuit(const BenchOptions& options, const Report& report, nlohmann::json& facts);
void bench_geometry(const BenchOptions& options, const Report& report, nlohmann::json& facts);

/// 784 inputs and 6 layers of 8,000 random gates of two inputs.
LogicNetwork standard_network();

template <class F>
double milliseconds_of(const F& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const auto time = std::chrono::steady_clock::now() - start;
  return std::chrono::duration<double, std::milli>(time).count();
}

/// Runs `work` until threads, caches and memory are warm, then often enough for a median.
template <class F>
Timing measure(const F& work, int repeat) {
  constexpr double warm_up_ms = 100;
  constexpr double measured_ms = 300;
  constexpr int least_runs = 5;
  for (double spent = 0; spent < (repeat > 0 ? 0 : warm_up_ms);) spent += milliseconds_of(work);
  std::vector<double> times;
  double spent = 0;
  const auto enough = [&] {
    const auto runs = static_cast<int>(times.size());
    return repeat > 0 ? runs >= repeat : runs >= least_runs && spent >= measured_ms;
  };
  while (!enough()) {
    times.push_back(milliseconds_of(work));
    spent += times.back();
  }
  std::ranges::sort(times);
  return {times[times.size() / 2], times.front()};
}

}  // namespace boolgrad::cli
