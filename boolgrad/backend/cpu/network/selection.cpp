#include "boolgrad/backend/cpu/network/selection.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "boolgrad/backend/cpu/network/row_products.h"
#include "boolgrad/backend/cpu/tensor/gemm.h"
#include "boolgrad/core/parallel.h"

namespace boolgrad::cpu {
namespace {

// Multiplications per task of a parallel loop.
constexpr std::size_t products_per_task = std::size_t{1} << 18;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

const std::byte* bytes_of(const Tensor& tensor) {
  return static_cast<const std::byte*>(tensor.data());
}
std::byte* bytes_of(Tensor& tensor) { return static_cast<std::byte*>(tensor.mutable_data()); }

/// Calls `f(row)` for all rows, in parallel tasks of rows that cost `products` each.
template <class F>
void for_rows(std::size_t rows, std::size_t products, const F& f) {
  const std::size_t grain =
      std::max<std::size_t>(1, products_per_task / std::max<std::size_t>(1, products));
  parallel_for(task_count(rows, grain), [&](std::size_t task) {
    for (std::size_t row = task * grain; row < std::min(rows, (task + 1) * grain); ++row) f(row);
  });
}

void multiply(const GemmShape& shape, const Tensor& a, const Tensor& b, Tensor& c) {
  const GemmSum sum{.c = c.mutable_data(), .factors = {{a.data(), b.data()}}};
  gemm(c.dtype(), shape, {&sum, 1});
}

}  // namespace

void mix_candidates(const CandidateWires& wires, const Tensor& weights, const Tensor& x,
                    Tensor& slots) {
  const std::int64_t samples = x.shape()[1];
  if (wires.has_all()) {
    return multiply({.m = wires.slots, .n = samples, .k = wires.count}, weights, x, slots);
  }
  const RowProducts rows = row_products(x.dtype());
  const std::size_t size = size_of(x.dtype());
  const std::size_t count = index(wires.count);
  const std::size_t length = index(samples);
  for_rows(index(wires.slots), count * length, [&](std::size_t slot) {
    std::byte* to = bytes_of(slots) + slot * length * size;
    std::memset(to, 0, length * size);
    rows.add_scaled(x.data(), wires.sources.subspan(slot * count, count),
                    bytes_of(weights) + slot * count * size, length, to);
  });
}

void candidate_gradients(const CandidateWires& wires, const Tensor& x, const Tensor& g,
                         Tensor& gw) {
  const std::int64_t samples = x.shape()[1];
  if (wires.has_all()) {
    return multiply({.m = wires.slots, .n = wires.count, .k = samples, .transpose_b = true}, g, x,
                    gw);
  }
  const RowProducts rows = row_products(x.dtype());
  const std::size_t size = size_of(x.dtype());
  const std::size_t count = index(wires.count);
  const std::size_t length = index(samples);
  for_rows(index(wires.slots), count * length, [&](std::size_t slot) {
    rows.dots(bytes_of(g) + slot * length * size, x.data(),
              wires.sources.subspan(slot * count, count), length,
              bytes_of(gw) + slot * count * size);
  });
}

void mixed_input_gradients(const CandidateWires& wires, const Tensor& weights, const Tensor& g,
                           Tensor& gx) {
  const std::int64_t samples = g.shape()[1];
  if (wires.has_all()) {
    return multiply({.m = wires.count, .n = samples, .k = wires.slots, .transpose_a = true},
                    weights, g, gx);
  }
  const RowProducts rows = row_products(g.dtype());
  const std::size_t size = size_of(g.dtype());
  const std::size_t length = index(samples);
  const std::size_t uses_per_input =
      wires.uses.size() / std::max<std::size_t>(1, index(wires.inputs));
  for_rows(index(wires.inputs), uses_per_input * length, [&](std::size_t input) {
    std::byte* to = bytes_of(gx) + input * length * size;
    std::memset(to, 0, length * size);
    constexpr std::size_t block = 64;
    std::array<std::int32_t, block> slots{};
    std::array<double, block> room{};  // of factors of either type
    auto* factors = reinterpret_cast<std::byte*>(room.data());
    const auto uses = wires.uses.subspan(
        index(wires.first_use[input]), index(wires.first_use[input + 1] - wires.first_use[input]));
    for (std::size_t first = 0; first < uses.size(); first += block) {
      const std::size_t used = std::min(block, uses.size() - first);
      for (std::size_t i = 0; i < used; ++i) {
        const std::int32_t candidate = uses[first + i];
        slots[i] = static_cast<std::int32_t>(candidate / wires.count);
        std::memcpy(factors + i * size, bytes_of(weights) + index(candidate) * size, size);
      }
      rows.add_scaled(g.data(), std::span(slots).first(used), factors, length, to);
    }
  });
}

void gather_rows(std::span<const std::int32_t> sources, const Tensor& x, Tensor& slots) {
  const std::size_t row = index(x.shape()[1]) * size_of(x.dtype());
  for_rows(sources.size(), index(x.shape()[1]), [&](std::size_t slot) {
    std::memcpy(bytes_of(slots) + slot * row, bytes_of(x) + index(sources[slot]) * row, row);
  });
}

void add_rows(std::span<const std::int32_t> sources, const Tensor& g, Tensor& gx) {
  // Slots by source, in ascending order.
  const std::size_t inputs = index(gx.shape()[0]);
  std::vector<std::size_t> first(inputs + 1);
  for (const std::int32_t source : sources) ++first[index(source) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<std::int32_t> slots(sources.size());
  std::vector<std::size_t> next(first.begin(), first.end() - 1);
  for (std::size_t slot = 0; slot < sources.size(); ++slot) {
    slots[next[index(sources[slot])]++] = static_cast<std::int32_t>(slot);
  }
  const RowProducts rows = row_products(g.dtype());
  const std::size_t length = index(g.shape()[1]);
  const std::size_t size = size_of(g.dtype());
  const Tensor ones = Tensor::ones({std::ssize(sources)}, g.dtype());
  for_rows(inputs, sources.size() / inputs * length, [&](std::size_t input) {
    std::byte* to = bytes_of(gx) + input * length * size;
    std::memset(to, 0, length * size);
    rows.add_scaled(g.data(),
                    std::span(slots).subspan(first[input], first[input + 1] - first[input]),
                    ones.data(), length, to);
  });
}

}  // namespace boolgrad::cpu
