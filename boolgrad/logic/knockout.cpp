#include "boolgrad/logic/knockout.h"

#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/random.h"

namespace boolgrad::logic {
namespace {

constexpr std::uint32_t knockout_stream = 0x40000;

}  // namespace

Tensor listed_knockout(std::int64_t gates, std::span<const std::int64_t> off, DType dtype) {
  Tensor mask = Tensor::ones({gates}, dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (const std::int64_t gate : off) {
      if (gate < 0 || gate >= gates) {
        fail("knockout", "expected gates below {}, received {}", gates, gate);
      }
      mask.mutable_values<T>()[static_cast<std::size_t>(gate)] = convert<T>(0);
    }
  });
  return mask;
}

Tensor random_knockout(std::int64_t gates, double share, DType dtype, std::uint64_t seed,
                       std::uint32_t layer) {
  if (!(share >= 0 && share <= 1)) {
    fail("knockout", "expected a share between 0 and 1, received {}", share);
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(gates));
  std::iota(order.begin(), order.end(), 0);
  const auto count = static_cast<std::size_t>(std::llround(share * static_cast<double>(gates)));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t j = random_below(
        {.seed = seed, .stream = knockout_stream + layer, .index = i}, order.size() - i);
    std::swap(order[i], order[i + j]);
  }
  return listed_knockout(gates, std::span(order).first(count), dtype);
}

Tensor whole_knockout(std::int64_t gates, DType dtype) { return Tensor::zeros({gates}, dtype); }

Tensor block_knockout(std::int64_t gates, std::int64_t first, std::int64_t count, DType dtype) {
  if (first < 0 || count < 0 || first > gates - count) {
    fail("knockout", "expected a block within {} gates, received {} from {}", gates, count, first);
  }
  std::vector<std::int64_t> off(static_cast<std::size_t>(count));
  std::iota(off.begin(), off.end(), first);
  return listed_knockout(gates, off, dtype);
}

}  // namespace boolgrad::logic
