// The interface of the look-up-table kernels of an instruction set.
#pragma once

#include <cstdint>

#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/tensor/dtype.h"

namespace boolgrad::cpu {

/// Kernels for one tile of one layer. Rows of features are `tile` elements apart. `sums`
/// accumulates the gradients of the coefficients, [gates, 2^arity]. `gx` is null if the inputs need
/// no gradient.
struct LutKernels {
  void (*forward)(const LutWires& wires, const void* coefficients, const void* x, void* out,
                  std::size_t tile);
  void (*backward)(const LutWires& wires, const void* coefficients, const void* x, const void* g,
                   void* gx, void* sums, std::size_t tile);
};

/// The kernels for a dtype and arity.
LutKernels lut_kernels(DType dtype, int arity);

/// The kernels of pooling: maxima, which read no coefficients. The gradient is shared equally among
/// the inputs that are maximal.
LutKernels pooling_kernels(DType dtype);

}  // namespace boolgrad::cpu
