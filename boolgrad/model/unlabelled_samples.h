// Samples to predict: without labels, from a file of any kind.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "boolgrad/data/data_set.h"
#include "boolgrad/model/classifier.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// A sample that was left out, and why.
struct RefusedSample {
  std::string name;
  std::string reason;
};

struct UnlabelledSamples {
  Tensor features = {};                     ///< uint8 or float32 [samples, features]
  std::string what;                         ///< what a name is: `line`, `sample` or `file`
  std::vector<std::string> names = {};      ///< one per sample
  std::vector<RefusedSample> refused = {};  ///< not among the samples
};

/// Reads samples for a classifier, by the ending of the file's name:
///
/// - a model of a table reads CSV, with columns in any order; lines with mistakes are refused;
/// - `.npy`: [samples, ...];
/// - `.png`, or a folder of them: images of the size that the model was trained on;
/// - other names: IDX images, plain or compressed with gzip.
///
/// `-` is the standard input, for tables.
UnlabelledSamples read_unlabelled_samples(const std::filesystem::path& path,
                                          const Classifier& classifier);

}  // namespace boolgrad
