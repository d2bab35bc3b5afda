// The inner loops of `map` and `map_sum`, dispatched at run time by instruction set.
#pragma once

#include <cstddef>

#include "boolgrad/backend/cpu/tensor/map.h"
#include "boolgrad/tensor/dtype.h"

namespace boolgrad::cpu {

/// A row of elements of each input. Stride 1: contiguous. Stride 0: a broadcast value, repeated
/// `broadcast_lanes` times at `data` for vector loads.
struct RowInputs {
  const void* data[max_map_inputs];
  std::ptrdiff_t stride[max_map_inputs];
};

/// The maximal number of 16-bit lanes of all instruction sets.
constexpr std::size_t broadcast_lanes = 64;

/// The number of rows that `accumulate` processes in one pass.
constexpr std::size_t rows_at_once = 4;

/// The loops of one function.
struct RowKernels {
  /// out[i] = f(in[i]...).
  void (*map)(const RowInputs& in, void* out, std::size_t count, const double* parameters);
  /// The sum of f over the row.
  double (*sum)(const RowInputs& in, std::size_t count, const double* parameters);
  /// sums[i] += f(in[i]...) for each of `rows` rows, in double for float64 and in float for the
  /// others. Up to `rows_at_once` rows share one pass over the sums.
  void (*accumulate)(const RowInputs* in, std::size_t rows, void* sums, std::size_t count,
                     const double* parameters);
};

/// The kernels of a function. `sum` and `accumulate` are null for functions that are never summed.
RowKernels row_kernels(MapKernel f, DType dtype);

RowKernels arithmetic_row_kernels(MapKernel f, DType dtype);
RowKernels elementwise_row_kernels(MapKernel f, DType dtype);
RowKernels activation_row_kernels(MapKernel f, DType dtype);
RowKernels loss_row_kernels(MapKernel f, DType dtype);

/// The instruction set the kernels run on, as Highway names it: `AVX3`, `AVX2`, `NEON`, ...
const char* instruction_set();

}  // namespace boolgrad::cpu
