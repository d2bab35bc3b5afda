// The tape against central differences.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

struct GradcheckOptions {
  /// Half the distance of the two points a difference is taken over.
  double step = 1e-6;
  /// Largest accepted |tape - difference| / max(1, |tape|, |difference|).
  double tolerance = 1e-6;
};

struct GradcheckResult {
  bool pass = false;
  /// The place of the largest error: which input, which element of it (row-major), and both values.
  std::size_t input = 0;
  std::int64_t element = 0;
  double from_tape = 0;
  double from_difference = 0;
  double error = 0;

  /// `input 1, element 3: the tape gives 0.5, differences 0.25 (error 0.25)`.
  std::string describe() const;
};

/// Compares every derivative of `function` at `inputs`, which must be float64. An output of more
/// than one element is weighted by fixed pseudo-random numbers first, so that no element hides.
/// Inputs of integer dtypes are passed on as they are.
GradcheckResult gradcheck(const std::function<Tensor(std::span<const Tensor>)>& function,
                          std::span<const Tensor> inputs, const GradcheckOptions& options = {});

}  // namespace boolgrad
