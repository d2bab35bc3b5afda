// Matrix products by OpenBLAS.
//
// OpenBLAS may split a product differently for different numbers of threads. Here it runs on one
// thread, and parallel tasks compute blocks of the result that depend only on its shape.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "boolgrad/tensor/dtype.h"

namespace boolgrad::cpu {

/// c[m, n] = op(a) op(b), where op(a) is [m, k] and op(b) is [k, n]. A transposed operand is stored
/// transposed.
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
};

/// A result and the products that are summed into it, in order.
struct GemmSum {
  void* c = nullptr;
  std::vector<std::pair<const void*, const void*>> factors;
};

/// Computes all sums, in float32 or float64.
void gemm(DType dtype, const GemmShape& shape, std::span<const GemmSum> sums);

}  // namespace boolgrad::cpu
