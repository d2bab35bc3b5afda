// Random tensors for tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "boolgrad/core/random.h"
#include "boolgrad/ops/op_table.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// A random value of `domain`, at least 0.05 away from its kinks.
inline double draw(const OpDomain& domain, std::uint64_t seed, std::uint64_t index) {
  for (std::uint32_t attempt = 0;; ++attempt) {
    const double share = random_uniform({.seed = seed, .step = attempt, .index = index});
    const double value = domain.low + share * (domain.high - domain.low);
    bool clear = true;
    for (const double kink : domain.kinks) clear = clear && std::abs(value - kink) > 0.05;
    if (clear) return value;
  }
}

inline Tensor random_tensor(const Shape& shape, DType dtype, std::uint64_t seed,
                            const OpDomain& domain = {}) {
  Tensor result(shape, dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    std::uint64_t index = 0;
    for (T& value : result.mutable_values<T>()) value = convert<T>(draw(domain, seed, index++));
  });
  return result;
}

/// Whether two tensors agree in dtype, shape and every bit.
inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

}  // namespace boolgrad
