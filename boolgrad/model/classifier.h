// What makes a circuit a classifier: thresholds before it, a head behind it, and what both mean.
#pragma once

#include "boolgrad/data/data_set.h"
#include "boolgrad/logic/head.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/logic/thresholds.h"
#include "boolgrad/tensor/safetensors.h"
#include "boolgrad/model/evaluation.h"

namespace boolgrad {

struct Classifier {
  Thresholds thresholds;
  Head head;
  DataForm form;
  bool has_bytes = false;  ///< features are bytes, else float32

  /// Adds itself to the file of its network.
  void save(TensorFile& file) const;
  static bool is_in(const TensorFile& file) { return Thresholds::is_in(file); }
  static Classifier from_file(const TensorFile& file);
};

/// Predictions of samples, a class or a value each, and how good they are.
struct Predictions {
  std::vector<double> soft;
  std::vector<double> hard;
  double soft_loss = 0;  ///< the mean over samples
};

/// What `network` predicts, as it is trained and once hardened.
Predictions predict(const LogicNetwork& network, const Classifier& classifier,
                    const SampleSet& samples);

/// Shares of right classes; of a regression 1 - (mean squared error) / (variance of the labels).
/// `hard_loss` counts wrong classes, or is the mean squared error.
Evaluation evaluation_of(const Predictions& predicted, const Head& head, const Tensor& labels);

/// How many samples of each class were taken for which: [wanted][received].
std::vector<std::vector<std::int64_t>> confusion(const std::vector<double>& predicted,
                                                 const Tensor& labels, std::int64_t classes);

/// Rows of bytes [samples, bits] as columns [bits, picked] of a floating dtype.
Tensor columns_of_rows(const Tensor& rows, std::span<const std::int64_t> picked, DType dtype);

}  // namespace boolgrad
