// What a network gives in a step of training: with tables that harden, and with gradients that are
// scaled on their way back.
#pragma once

#include <cstdint>

#include "boolgrad/logic/network.h"
#include "boolgrad/train/experiment/experiment.h"
#include "boolgrad/train/learners/hardening.h"

namespace boolgrad {

/// `x` as it is; a gradient that passes back through it is multiplied by `factor`.
Tensor with_scaled_gradient(const Tensor& x, double factor);

/// The outputs [outputs, samples] for inputs [inputs, samples] in step `step`. With the
/// experiment's gradient factor f the gradients of layer i of n, counted from 1, are f^(n - i)
/// times the true ones, and those of the inputs f^n times.
Tensor training_outputs(const LogicNetwork& network, const Tensor& x, const Hardening& hardening,
                        const Experiment& experiment, std::int64_t step);

}  // namespace boolgrad
