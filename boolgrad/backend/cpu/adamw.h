// One step of AdamW over the elements of a parameter.
#pragma once

#include "boolgrad/tensor/tensor.h"

namespace boolgrad::cpu {

/// p <- keep p - rate m / (sqrt(v / second_correction) + epsilon), after m and v have taken in g.
struct AdamWFactors {
  double beta1;
  double beta2;
  double second_correction;  ///< 1 - beta2^step
  double rate;               ///< learning rate / (1 - beta1^step)
  double keep;               ///< 1 - learning rate * weight decay
  double epsilon;
};

/// Updates parameter `p` and its moments `m` and `v` in place, in one pass. All are of one shape
/// and dtype, float32 or float64. Every operation is rounded once by itself, so the bits are the
/// same on every instruction set.
void adamw(const AdamWFactors& factors, Tensor& p, Tensor& m, Tensor& v, const Tensor& g);

}  // namespace boolgrad::cpu
