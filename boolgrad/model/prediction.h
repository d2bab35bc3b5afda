// Predictions of trained networks for samples in memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/circuit/bits/runner.h"
#include "boolgrad/circuit/netlist.h"
#include "boolgrad/model/classifier.h"
#include "boolgrad/model/model.h"
#include "boolgrad/options/device.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// A hardened classifier on packed bits, prepared for many samples. All functions are thread-safe.
/// Samples are uint8 or float32 [samples, features].
class HardClassifier {
 public:
  /// `netlist` is the hardened network, without the head, or one that is equivalent.
  HardClassifier(Classifier classifier, const circuit::Netlist& netlist);

  /// Writes group sums to `sums`, [samples, groups].
  void group_sums(const Tensor& samples, std::span<std::int32_t> sums) const;
  /// Group sums: float64 [groups, samples].
  Tensor sums(const Tensor& samples) const;

  /// Classes or values, one per sample.
  std::vector<double> predict(const Tensor& samples) const;

  /// For every bit of the binarised samples, how much the prediction depends on it: the share of
  /// samples whose class changes if the bit is flipped. For regression, the mean change of the
  /// value, as a share of its range.
  std::vector<double> influences(const Tensor& samples) const;
  /// By feature: the influences of its bits, added up.
  std::vector<double> feature_influences(const Tensor& samples) const;

 private:
  Tensor sums_of(const logic::BitMatrix& bits) const;
  std::vector<double> predictions_of(const logic::BitMatrix& bits) const;

  Classifier classifier_;
  circuit::CircuitRunner runner_;
  std::vector<bool> reached_;  ///< bits that an output depends on, followed by gates
};

/// Group sums of the soft network of a classifier: float64 [groups, samples].
Tensor soft_sums(const Model& model, const Tensor& samples, const Device& device = {});

/// Soft outputs of a network, [samples, outputs] in its dtype, for inputs [samples, inputs] between
/// 0 and 1 of the same dtype.
Tensor soft_outputs(const logic::Network& network, const Tensor& inputs);

}  // namespace boolgrad
