// What the outputs of a circuit say together: a class or a value, from counts of ones.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "boolgrad/backend/options/head.h"
#include "boolgrad/logic/lut.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

std::string_view to_string(HeadKind kind);
HeadKind head_kind_of(std::string_view where, std::string_view name);

/// Sums of `groups` equal groups of the rows of y [outputs, samples]: [groups, samples].
Tensor group_sums(const Tensor& y, std::int64_t groups);

/// The training loss of soft outputs, the mean over samples. Labels are int32 classes, or float32
/// values for a regression.
///
/// - classes: cross-entropy of softmax(sums / temperature);
/// - binary: that of the two classes whose logits are -z/2 and z/2, z = (sum - half) / temperature;
/// - regression: squares of sum / outputs - (value - low) / (high - low).
///
/// With `smoothing` s the target of a class is 1 - s + s / classes, and s / classes of the others.
Tensor head_loss(const Head& head, const Tensor& y, const Tensor& labels, double smoothing = 0);

/// The same from the sums [groups, samples] of `outputs` outputs in all.
Tensor head_loss_of_sums(const Head& head, const Tensor& sums, std::int64_t outputs,
                         const Tensor& labels, double smoothing = 0);

/// Predictions from sums float64 [groups, samples] of `outputs` outputs in all: a class each, or a
/// value.
std::vector<double> predictions(const Head& head, const Tensor& sums, std::int64_t outputs);

/// Sums of bits: float64 [groups, samples].
Tensor group_counts(const BitMatrix& outputs, std::int64_t groups);

}  // namespace boolgrad
