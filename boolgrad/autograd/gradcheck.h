// Numerical gradient checks.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// Settings of `gradcheck`.
struct GradcheckOptions {
  /// Step h of the central difference (f(x + h) - f(x - h)) / 2h.
  double step = 1e-6;
  /// The largest accepted |tape - difference| / max(1, |tape|, |difference|).
  double tolerance = 1e-6;
};

/// The outcome of `gradcheck`, with the largest error.
struct GradcheckResult {
  bool pass = false;           ///< whether all errors are within the tolerance
  std::size_t input = 0;       ///< input with the largest error
  std::int64_t element = 0;    ///< element of that input, in row-major order
  double from_tape = 0;        ///< derivative computed by the tape
  double from_difference = 0;  ///< derivative computed by central differences
  double error = 0;            ///< relative error

  /// A line such as `input 1, element 3: tape 0.5, difference 0.25 (error 0.25)`.
  std::string describe() const;
};

/// Compares every derivative of `function` at `inputs` with central differences. Floating inputs
/// must be float64; integer inputs are passed through. An output of several elements is reduced by
/// a fixed random weighting, so that every element counts.
GradcheckResult gradcheck(const std::function<Tensor(std::span<const Tensor>)>& function,
                          std::span<const Tensor> inputs, const GradcheckOptions& options = {});

}  // namespace boolgrad
