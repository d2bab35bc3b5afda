// The parts that make a circuit a classifier: thresholds, a head and the format of the data.
#pragma once

#include "boolgrad/data/data_set.h"
#include "boolgrad/logic/head.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/logic/thresholds.h"
#include "boolgrad/tensor/safetensors.h"

namespace boolgrad {

struct Classifier {
  logic::Thresholds thresholds;
  Head head;
  data::DataFormat format;
  bool has_bytes = false;  ///< whether features are bytes; else float32
  /// Trained offsets [bits] of the thresholds, relative to feature ranges. Undefined if not
  /// trained.
  Tensor threshold_offsets = {};
  /// Trained exponents [outputs] of the weights of outputs, before rounding. Undefined if not
  /// trained.
  Tensor weight_exponents = {};

  /// Adds the classifier to the file of its network.
  void save(TensorFile& file) const;
  static bool is_in(const TensorFile& file) { return logic::Thresholds::is_in(file); }
  static Classifier from_file(const TensorFile& file);
};

}  // namespace boolgrad
