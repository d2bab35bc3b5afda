// Matrix products by OpenBLAS.
//
// OpenBLAS may split a product differently for different numbers of threads, so it runs on one
// thread here, and the blocks of the result that run side by side are cut by its shape alone.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "boolgrad/tensor/dtype.h"

namespace boolgrad::cpu {

/// c[m, n] = op(a) op(b), op(a) being [m, k] and op(b) [k, n]. A transposed operand is stored the
/// other way round.
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
};

/// One result and the products that are added up in it, in their order.
struct GemmSum {
  void* c = nullptr;
  std::vector<std::pair<const void*, const void*>> factors;
};

/// float32 or float64.
void gemm(DType dtype, const GemmShape& shape, std::span<const GemmSum> sums);

}  // namespace boolgrad::cpu
