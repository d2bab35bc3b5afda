#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boolgrad/backend/cpu/runtime/machine_rates.cpp"
#include <hwy/foreach_target.h>
// Highway's own header needs the macros of the line above.
#include <hwy/highway.h>

#include "boolgrad/backend/cpu/runtime/machine_rates.h"

HWY_BEFORE_NAMESPACE();
namespace boolgrad::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Runs twelve independent chains of fused multiply-adds, enough to fill all pipelines. Returns the
/// number of operations. `sink` keeps the compiler from removing them.
double MultiplyAdds(long rounds, float* sink) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, 0.999F);
  const auto term = hn::Set(d, 0.001F);
  // Different initial values: the compiler would merge equal chains.
  auto a0 = hn::Set(d, 0.01F), a1 = hn::Set(d, 0.02F), a2 = hn::Set(d, 0.03F);
  auto a3 = hn::Set(d, 0.04F), a4 = hn::Set(d, 0.05F), a5 = hn::Set(d, 0.06F);
  auto a6 = hn::Set(d, 0.07F), a7 = hn::Set(d, 0.08F), a8 = hn::Set(d, 0.09F);
  auto a9 = hn::Set(d, 0.10F), a10 = hn::Set(d, 0.11F), a11 = hn::Set(d, 0.12F);
  for (long i = 0; i < rounds; ++i) {
    a0 = hn::MulAdd(a0, factor, term);
    a1 = hn::MulAdd(a1, factor, term);
    a2 = hn::MulAdd(a2, factor, term);
    a3 = hn::MulAdd(a3, factor, term);
    a4 = hn::MulAdd(a4, factor, term);
    a5 = hn::MulAdd(a5, factor, term);
    a6 = hn::MulAdd(a6, factor, term);
    a7 = hn::MulAdd(a7, factor, term);
    a8 = hn::MulAdd(a8, factor, term);
    a9 = hn::MulAdd(a9, factor, term);
    a10 = hn::MulAdd(a10, factor, term);
    a11 = hn::MulAdd(a11, factor, term);
  }
  const auto sum = hn::Add(
      hn::Add(hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)), hn::Add(hn::Add(a4, a5), hn::Add(a6, a7))),
      hn::Add(hn::Add(a8, a9), hn::Add(a10, a11)));
  *sink = hn::GetLane(hn::SumOfLanes(d, sum));
  return 2.0 * 12 * static_cast<double>(rounds) * static_cast<double>(hn::Lanes(d));
}

}  // namespace boolgrad::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "boolgrad/core/parallel.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::cpu {
namespace {

HWY_EXPORT(MultiplyAdds);

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double measure_gflops() {
  constexpr long rounds = 4'000'000;
  const auto threads = static_cast<std::size_t>(thread_count());
  std::vector<double> operations(threads);
  std::vector<float> sinks(threads * 16);
  double best = 0;
  for (int attempt = 0; attempt < 4; ++attempt) {
    const Clock::time_point start = Clock::now();
    parallel_for(threads, [&](std::size_t i) {
      operations[i] = HWY_DYNAMIC_DISPATCH(MultiplyAdds)(rounds, &sinks[i * 16]);
    });
    double total = 0;
    for (const double count : operations) total += count;
    best = std::max(best, total / seconds_since(start) * 1e-9);
  }
  return best;
}

double measure_gigabytes() {
  constexpr std::int64_t bytes = std::int64_t{1} << 27;
  constexpr std::size_t piece = std::size_t{1} << 20;
  const Tensor from = Tensor::zeros({bytes}, DType::uint8);
  Tensor to = Tensor::zeros({bytes}, DType::uint8);
  double best = 0;
  for (int attempt = 0; attempt < 4; ++attempt) {
    const Clock::time_point start = Clock::now();
    parallel_for(static_cast<std::size_t>(bytes) / piece, [&](std::size_t i) {
      std::memcpy(static_cast<std::byte*>(to.mutable_data()) + i * piece,
                  static_cast<const std::byte*>(from.data()) + i * piece, piece);
    });
    best = std::max(best, 2.0 * static_cast<double>(bytes) / seconds_since(start) * 1e-9);
  }
  return best;
}

}  // namespace

MachineRates measure_machine_rates() { return {measure_gflops(), measure_gigabytes()}; }

}  // namespace boolgrad::cpu
#endif
