// What the look-up-table kernels of one instruction set offer to `lut.cpp`.
#pragma once

#include <cstdint>

#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/tensor/dtype.h"

namespace boolgrad::cpu {

/// One tile of one layer. Rows of features are `tile` elements apart. `sums` adds up the gradients
/// of the coefficients, [gates, 2^arity]; `gx` is null where the inputs need no gradient.
struct LutKernels {
  void (*forward)(const LutWires& wires, const void* coefficients, const void* x, void* out,
                  std::size_t tile);
  void (*backward)(const LutWires& wires, const void* coefficients, const void* x, const void* g,
                   void* gx, void* sums, std::size_t tile);
};

LutKernels lut_kernels(DType dtype, int arity);

}  // namespace boolgrad::cpu
