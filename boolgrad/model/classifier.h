// What makes a circuit a classifier: thresholds before it, a head after it, and what both mean.
#pragma once

#include "boolgrad/data/data_set.h"
#include "boolgrad/logic/head.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/logic/thresholds.h"
#include "boolgrad/tensor/safetensors.h"

namespace boolgrad {

struct Classifier {
  Thresholds thresholds;
  Head head;
  DataForm form;
  bool has_bytes = false;  ///< features are bytes, else float32
  /// Where thresholds are trained: the parameter [bits] that their values follow from.
  Tensor threshold_offsets = {};

  /// Adds itself to the file of its network.
  void save(TensorFile& file) const;
  static bool is_in(const TensorFile& file) { return Thresholds::is_in(file); }
  static Classifier from_file(const TensorFile& file);
};

}  // namespace boolgrad
