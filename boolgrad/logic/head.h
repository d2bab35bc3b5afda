// Classification and regression heads: a class or a value from counts of output bits.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "boolgrad/logic/lut.h"
#include "boolgrad/options/head.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::logic {

/// Sums over `groups` consecutive groups of equal size of y [outputs, samples]: [groups, samples].
Tensor group_sums(const Tensor& y, std::int64_t groups);

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
/// - binary: cross-entropy of the logits -z/2 and z/2 with z = (sum - size / 2) / temperature for
///   groups of size outputs.
/// - bits: the mean of this over the groups, the label of group g being bit g of the class.
/// - regression: squared error of sum / outputs against (value - low) / (high - low).
///
/// Label smoothing s gives the true class the target 1 - s + s / classes and all others
/// s / classes; in a vote on a bit, there are two classes. Soft targets q of weight w make the loss
/// of classes (1 - w) times the loss of the labels plus w times the cross-entropy against q.
Tensor head_loss(const Head& head, const Tensor& y, const Tensor& labels, double smoothing = 0,
                 const SoftTargets& soft_targets = {});

/// The loss from group sums [groups, samples], where `outputs` is the total number of outputs.
Tensor head_loss_of_sums(const Head& head, const Tensor& sums, std::int64_t outputs,
                         const Tensor& labels, double smoothing = 0,
                         const SoftTargets& soft_targets = {});

/// The temperature of the head of classes after a training step whose sums had this standard
/// deviation: a moving average of deviation / (4 target), at most `outputs_per_class` / 6.
double adapted_temperature(double temperature, double deviation, double target,
                           double outputs_per_class);

/// The standard deviation of all values of a tensor.
double standard_deviation(const Tensor& values);

/// Predictions from group sums, float64 [groups, samples]: one class or value per sample. `outputs`
/// is the total number of outputs. Bits that give no class are predicted as the last class.
std::vector<double> predictions(const Head& head, const Tensor& sums, std::int64_t outputs);

/// Group sums of hard outputs: float64 [groups, samples].
Tensor group_counts(const BitMatrix& outputs, std::int64_t groups);

}  // namespace boolgrad::logic
