// Classification and regression heads: a class or a value from counts of output bits.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "boolgrad/logic/lut.h"
#include "boolgrad/options/head.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::logic {

/// Sums over `groups` consecutive groups of equal size of y [outputs, samples]: [groups, samples].
/// With weights [outputs, 1], outputs are multiplied by them.
Tensor group_sums(const Tensor& y, std::int64_t groups, const Tensor& weights = {});

/// The weights of a head's outputs, [outputs, 1]. Undefined if all outputs count once.
Tensor output_weights(const Head& head, DType dtype);

/// The weights 2^e [outputs, 1] of trained exponents e [outputs], which are rounded and limited to
/// 0 to `max_exponent`. Straight-through: the gradient is that of 2^x at the rounded exponent. It
/// is 0 for an exponent outside the limits that would move further away.
Tensor power_weights(const Tensor& exponents, std::int64_t max_exponent, DType dtype);

/// Trained exponents as `power_weights` rounds and limits them.
std::vector<std::int32_t> rounded_exponents(const Tensor& exponents, std::int64_t max_exponent);

/// Group sums [groups, samples], and the largest sum that each group can have, float64 [groups, 1].
struct GroupSums {
  Tensor sums;
  Tensor largest;
};

/// The sums of outputs y [outputs, samples]. Without weights, they have those of the head.
GroupSums sums_of(const Head& head, const Tensor& y, const Tensor& weights = {});

/// The largest sums of the groups of a head, float64 [groups, 1].
Tensor largest_sums(const Head& head, std::int64_t outputs);

/// Targets of a teacher: probabilities [classes, samples] in the dtype of the outputs, and the
/// weight of the cross-entropy against them. Without a weight, they are not read.
struct SoftTargets {
  Tensor probabilities = {};
  double weight = 0;
};

/// The training loss of soft outputs y [outputs, samples], averaged over samples. Labels are int32
/// classes, or float32 values for regression.
///
/// - classes: cross-entropy of softmax(sums / temperature).
/// - binary: cross-entropy of the logits -z/2 and z/2 with z = (sum - largest / 2) / temperature,
///   where largest is the sum of a group whose outputs are all 1.
/// - bits: the mean of this over the groups, the label of group g being bit g of the class.
/// - regression: squared error of sum / largest against (value - low) / (high - low).
///
/// Label smoothing s gives the true class the target 1 - s + s / classes and all others
/// s / classes; in a vote on a bit, there are two classes. Soft targets q of weight w make the loss
/// of classes (1 - w) times the loss of the labels plus w times the cross-entropy against q.
Tensor head_loss(const Head& head, const Tensor& y, const Tensor& labels, double smoothing = 0,
                 const SoftTargets& soft_targets = {});

/// The loss from group sums.
Tensor head_loss_of_sums(const Head& head, const GroupSums& sums, const Tensor& labels,
                         double smoothing = 0, const SoftTargets& soft_targets = {});

/// The temperature of the head of classes after a training step whose sums had this standard
/// deviation: a moving average of deviation / (4 target), at most `outputs_per_class` / 6.
double adapted_temperature(double temperature, double deviation, double target,
                           double outputs_per_class);

/// The standard deviation of all values of a tensor.
double standard_deviation(const Tensor& values);

/// Predictions from group sums, float64 [groups, samples]: one class or value per sample. `outputs`
/// is the total number of outputs. Bits that give no class are predicted as the last class.
std::vector<double> predictions(const Head& head, const Tensor& sums, std::int64_t outputs);

/// The probabilities of all classes from group sums, float64 [groups, samples]: [classes, samples].
/// They are those that `head_loss` compares with the labels; for bits, the product over the bits of
/// a class, scaled so that all classes add up to 1. Throws for regression.
Tensor probabilities(const Head& head, const Tensor& sums, std::int64_t outputs);

/// Group sums of hard outputs: float64 [groups, samples]. With exponents, output i counts
/// 2^exponents[i] times.
Tensor group_counts(const BitMatrix& outputs, std::int64_t groups,
                    std::span<const std::int32_t> exponents = {});

}  // namespace boolgrad::logic
