// The inner loops of `map` and `map_sum`, one instruction set chosen at run time.
#pragma once

#include <cstddef>

#include "boolgrad/backend/cpu/tensor/map.h"
#include "boolgrad/tensor/dtype.h"

namespace boolgrad::cpu {

/// A stretch of elements of each input. Stride 1: contiguous. Stride 0: one value for all, which
/// stands `broadcast_lanes` times at `data`, so that a vector load reads it.
struct RowInputs {
  const void* data[most_map_inputs];
  std::ptrdiff_t stride[most_map_inputs];
};

/// No vector of any instruction set has more lanes of 16 bits or wider.
constexpr std::size_t broadcast_lanes = 64;

/// Rows that `accumulate` takes together.
constexpr std::size_t rows_at_once = 4;

struct RowKernels {
  /// out[i] = f(in[i]...).
  void (*map)(const RowInputs& in, void* out, std::size_t count, const double* parameters);
  /// Sum of f over the row.
  double (*sum)(const RowInputs& in, std::size_t count, const double* parameters);
  /// sums[i] += f(in[i]...) of each of `rows` rows, in double for float64 and in float for the
  /// others. Up to `rows_at_once` rows share one pass over the sums.
  void (*accumulate)(const RowInputs* in, std::size_t rows, void* sums, std::size_t count,
                     const double* parameters);
};

/// `sum` and `accumulate` are null for functions that no op sums.
RowKernels row_kernels(MapKernel f, DType dtype);

RowKernels arithmetic_row_kernels(MapKernel f, DType dtype);
RowKernels elementwise_row_kernels(MapKernel f, DType dtype);
RowKernels activation_row_kernels(MapKernel f, DType dtype);
RowKernels loss_row_kernels(MapKernel f, DType dtype);

/// The instruction set the kernels run on, as Highway names it: `AVX3`, `AVX2`, `NEON`, ...
const char* instruction_set();

}  // namespace boolgrad::cpu
