// Labelled samples.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad::data {

/// Samples with labels: sample-major, as in files.
struct SampleSet {
  Tensor features;  ///< uint8 or float32 [samples, features]
  Tensor labels;    ///< [samples]: int32 classes or float32 values

  std::int64_t count() const { return features.defined() ? features.shape()[0] : 0; }
  std::int64_t feature_count() const { return features.defined() ? features.shape()[1] : 0; }
};

/// A column of a table: a number, or a category, which is one-hot encoded.
struct Column {
  std::string name;
  std::vector<std::string> categories = {};  ///< empty for a number
  std::string fill = {};  ///< what a missing value is read as; empty if it is refused

  bool operator==(const Column&) const = default;
};

/// What to do with missing values of a table.
enum class MissingValues : std::uint8_t {
  refuse,    ///< throw
  drop,      ///< leave the line out
  mean,      ///< the mean of a number and the most frequent category, in the training samples
  category,  ///< the same for numbers, but a category of their own for categories
};

enum class TextEncoding : std::uint8_t { utf8, latin1 };

/// The names in experiments: `refuse`, `utf-8`.
std::string_view to_string(MissingValues missing);
std::string_view to_string(TextEncoding encoding);
/// The names of shapes and dtypes, which the functions above would hide.
using boolgrad::to_string;
/// Nothing for another name.
std::optional<MissingValues> parse_missing_values(std::string_view name);
std::optional<TextEncoding> parse_text_encoding(std::string_view name);

/// How a CSV file is written.
struct CsvStyle {
  bool has_header = true;  ///< else columns are called column1, column2, ...
  MissingValues missing = MissingValues::refuse;
  TextEncoding encoding = TextEncoding::utf8;

  bool operator==(const CsvStyle&) const = default;
};

/// The meaning of features and labels. It is stored in models, so that samples of another file are
/// read in the same way.
struct DataFormat {
  std::vector<Column> columns = {};       ///< of a table; empty for images and arrays
  std::string target = {};                ///< of a table: the column to learn
  std::vector<std::string> classes = {};  ///< names; empty if labels are values
  CsvStyle csv = {};                      ///< of a table
  // Images are [channels, height, width]; 0 if features are not images.
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;

  bool is_image() const { return height > 0; }
  bool operator==(const DataFormat&) const = default;
};

/// Samples in memory and their meaning.
struct DescribedSamples {
  SampleSet samples;
  DataFormat format;
};

/// Readable names of features: `age`, `colour = red`, `x17`.
std::vector<std::string> feature_names(const DataFormat& format, std::int64_t features);

/// The samples at the given indices, in that order.
SampleSet picked_samples(const SampleSet& samples, const std::vector<std::int64_t>& indices);

/// A random split, sampled at (seed, stream). The second part gets `share` of every class, or of
/// all samples if labels are values. Both parts keep the order of the set.
struct SampleSplit {
  SampleSet kept;
  SampleSet taken;
  std::vector<std::int64_t> kept_rows;  ///< the indices of the kept samples in the set
};
SampleSplit split_samples(const SampleSet& samples, double share, std::uint64_t seed,
                          std::uint32_t stream);

/// The number of classes of int32 labels. Throws unless every class from 0 to the largest occurs.
/// `what` names the labels in the message.
std::int64_t count_classes(const SampleSet& samples, std::string_view what);

/// Throws for a label that is not a class of the training data. `what` names the labels in the
/// message.
void check_classes(const SampleSet& samples, std::int64_t classes, std::string_view what);

}  // namespace boolgrad::data
