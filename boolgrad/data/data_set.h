// Samples to learn from: numbers with a class or a value each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// A row a sample, as files have them.
struct SampleSet {
  Tensor features;  ///< uint8 or float32 [samples, features]
  Tensor labels;    ///< int32 [samples], a class each; or float32 [samples], a value each

  std::int64_t count() const { return features.defined() ? features.shape()[0] : 0; }
  std::int64_t feature_count() const { return features.defined() ? features.shape()[1] : 0; }
};

/// A column of a table: a number, or one of a list of names, each of which becomes a feature that
/// is 1 where the column has that name.
struct Column {
  std::string name;
  std::vector<std::string> categories;  ///< empty for a number

  bool operator==(const Column&) const = default;
};

/// What the features and labels of samples mean. It belongs to a model: samples from another file
/// are read in the same way.
struct DataForm {
  std::vector<Column> columns;       ///< of a table; empty for pictures and arrays
  std::string target;                ///< the column to learn, of a table
  std::vector<std::string> classes;  ///< their names; empty where labels are values
  // Pictures are [channels, height, width]; 0 where features are no picture.
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;

  bool is_picture() const { return height > 0; }
  bool operator==(const DataForm&) const = default;
};

/// A feature as people call it: `age`, `colour = red`, `x17`.
std::vector<std::string> feature_names(const DataForm& form, std::int64_t features);

/// The samples at the given places, in that order.
SampleSet picked_samples(const SampleSet& samples, const std::vector<std::int64_t>& places);

/// A set in two parts, the second with `share` of every class (of all samples where labels are
/// values), drawn at (seed, stream). Both keep the order of the set.
struct SampleSplit {
  SampleSet kept;
  SampleSet taken;
};
SampleSplit split_samples(const SampleSet& samples, double share, std::uint64_t seed,
                          std::uint32_t stream);

/// The number of classes of int32 labels, where each from 0 to the largest must occur; `what` names
/// the labels in the message.
std::int64_t count_classes(const SampleSet& samples, std::string_view what);

/// Refuses labels that are no class of the training data. `what` names them in the message.
void check_classes(const SampleSet& samples, std::int64_t classes, std::string_view what);

}  // namespace boolgrad
