// One step of AdamW over the elements of a parameter.
#pragma once

#include "boolgrad/options/adamw.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::cpu {

/// Updates parameter `p` and its moments `m` and `v` in place, in one pass. All have the same shape
/// and dtype, float32 or float64. No operations are fused, so the bits are the same on every
/// instruction set.
void adamw(const AdamWFactors<double>& factors, Tensor& p, Tensor& m, Tensor& v, const Tensor& g);

}  // namespace boolgrad::cpu
