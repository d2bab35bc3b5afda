#include "boolgrad/optim/gradients.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <string_view>

#include "boolgrad/backend/cpu/tensor/map.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/parallel.h"
#include "boolgrad/core/random.h"

namespace boolgrad {
namespace {

// Elements per task. Sums are taken task by task, so this number affects their rounding.
constexpr std::size_t task_elements = 16384;

// Wirings and initial values of layers use the streams below.
constexpr std::uint32_t gradient_noise_stream = 0x01000000;

/// Calls `f(task, chunk, first)` for every chunk of `values`, where `first` is its offset.
template <class T, class F>
void in_chunks(std::span<T> values, F f) {
  parallel_for(task_count(values.size(), task_elements), [&](std::size_t task) {
    const std::size_t first = task * task_elements;
    f(task, values.subspan(first, std::min(task_elements, values.size() - first)), first);
  });
}

/// Calls `f(T{})` for the dtypes that gradients have.
template <class F>
auto visit_gradient(std::string_view where, const Tensor& gradient, F f) {
  if (gradient.dtype() == DType::float32) return f(float{});
  if (gradient.dtype() == DType::float64) return f(double{});
  fail(where, "expected gradients of float32 or float64, received {}", to_string(gradient.dtype()));
}

// Eight sums side by side fill a vector.
template <class T>
double sum_of_squares(std::span<const T> values) {
  constexpr std::size_t width = 8;
  std::array<double, width> sums{};
  std::size_t i = 0;
  for (; i + width <= values.size(); i += width) {
    for (std::size_t lane = 0; lane < width; ++lane) {
      const auto value = static_cast<double>(values[i + lane]);
      sums[lane] += value * value;
    }
  }
  double sum = std::accumulate(sums.begin(), sums.end(), 0.0);
  for (; i < values.size(); ++i) {
    sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  }
  return sum;
}

double sum_of_squares(const Tensor& gradient) {
  return visit_gradient("global_norm", gradient, [&](auto zero) {
    using T = decltype(zero);
    const auto values = gradient.values<T>();
    std::vector<double> sums(task_count(values.size(), task_elements));
    in_chunks(values, [&](std::size_t task, std::span<const T> chunk, std::size_t /*first*/) {
      sums[task] = sum_of_squares(chunk);
    });
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  });
}

/// `gradients`, each mapped by `f`.
template <class F>
std::vector<Tensor> each(const std::vector<Tensor>& gradients, F f) {
  std::vector<Tensor> results;
  results.reserve(gradients.size());
  for (const Tensor& gradient : gradients) {
    results.push_back(gradient.defined() ? f(gradient) : Tensor());
  }
  return results;
}

Tensor mapped(cpu::MapKernel f, const Tensor& gradient, const cpu::MapParameters& parameters) {
  Tensor result(gradient.shape(), gradient.dtype());
  cpu::map(f, {gradient}, result, parameters);
  return result;
}

void check_positive(std::string_view where, double limit) {
  if (!(limit > 0)) fail(where, "expected a positive limit, received {}", limit);
}

}  // namespace

bool all_finite(const std::vector<Tensor>& gradients) {
  return std::ranges::all_of(gradients, [](const Tensor& gradient) {
    // A square of a finite float never overflows a double; one of a double may.
    if (!gradient.defined()) return true;
    if (gradient.dtype() == DType::float32) return std::isfinite(sum_of_squares(gradient));
    const auto values = gradient.values<double>();
    return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
  });
}

std::vector<Tensor> clip_by_value(const std::vector<Tensor>& gradients, double limit) {
  check_positive("clip_by_value", limit);
  return each(gradients, [&](const Tensor& gradient) {
    return mapped(cpu::MapKernel::clip, gradient, {-limit, limit});
  });
}

double global_norm(const std::vector<Tensor>& gradients) {
  double sum = 0;
  for (const Tensor& gradient : gradients) {
    if (gradient.defined()) sum += sum_of_squares(gradient);
  }
  return std::sqrt(sum);
}

std::vector<Tensor> clip_by_norm(const std::vector<Tensor>& gradients, double limit) {
  check_positive("clip_by_norm", limit);
  const double norm = global_norm(gradients);
  if (!(norm > limit)) return gradients;
  return each(gradients, [&](const Tensor& gradient) {
    return mapped(cpu::MapKernel::scale, gradient, {limit / norm});
  });
}

std::vector<Tensor> with_noise(const std::vector<Tensor>& gradients, double strength,
                               std::uint64_t seed, std::uint32_t step) {
  if (!(strength >= 0 && std::isfinite(strength))) {
    fail("with_noise", "expected a strength of at least 0, received {}", strength);
  }
  if (strength == 0) return gradients;
  std::uint64_t before = 0;  // elements of the gradients that came before
  return each(gradients, [&](const Tensor& gradient) {
    Tensor result = gradient.clone();
    visit_gradient("with_noise", gradient, [&](auto zero) {
      using T = decltype(zero);
      in_chunks(result.mutable_values<T>(),
                [&](std::size_t /*task*/, std::span<T> chunk, std::size_t first) {
                  for (std::size_t i = 0; i < chunk.size(); ++i) {
                    if (chunk[i] == 0) continue;
                    const RandomAddress at{.seed = seed,
                                           .stream = gradient_noise_stream,
                                           .step = step,
                                           .index = before + first + i};
                    chunk[i] += static_cast<T>(strength * random_normal(at));
                  }
                });
    });
    before += static_cast<std::uint64_t>(gradient.size());
    return result;
  });
}

}  // namespace boolgrad
