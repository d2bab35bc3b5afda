// Products of rows, by instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "boolgrad/tensor/dtype.h"

namespace boolgrad::cpu {

/// Kernels on rows of `length` elements.
struct RowProducts {
  /// results[i] = the dot product of `row` and row rows[i] of `matrix`.
  void (*dots)(const void* row, const void* matrix, std::span<const std::int32_t> rows,
               std::size_t length, void* results);
  /// to += the sum of factors[i] times row rows[i] of `matrix`.
  void (*add_scaled)(const void* matrix, std::span<const std::int32_t> rows, const void* factors,
                     std::size_t length, void* to);
};

/// The kernels for float32 or float64.
RowProducts row_products(DType dtype);

}  // namespace boolgrad::cpu
