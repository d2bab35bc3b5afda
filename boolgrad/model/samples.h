// The samples of a classifier: training, validation and test.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "boolgrad/data/csv_table.h"
#include "boolgrad/data/data_set.h"
#include "boolgrad/model/classifier.h"
#include "boolgrad/model/spec.h"

namespace boolgrad {

/// Both parts come from the training data. The test samples are not read.
struct TrainingSamples {
  data::SampleSet train;
  data::SampleSet validation;  ///< may be empty
  data::DataFormat format;
  std::int64_t dropped = 0;              ///< lines of a table left out for missing values
  std::int64_t file_rows = 0;            ///< samples of the training file, before any split
  std::vector<std::int64_t> train_rows;  ///< the index of each training sample among them
};

/// How the CSV file of a specification is read. With `values`, the target is a number.
data::TableOptions table_options(const ModelSpec& spec, bool values);

/// Loads the training samples. They are loaded once per process and shared while in use. With
/// `values`, labels are numbers to predict instead of classes.
std::shared_ptr<const TrainingSamples> load_training_samples(const ModelSpec& spec, bool values);

/// Loads the test samples of the specification or, if `path` is given, those of another folder or
/// file. Throws for classes that do not occur in the training data and for features that do not fit
/// `classifier`.
data::SampleSet load_test_samples(const ModelSpec& spec, const Classifier& classifier,
                                  const std::string& path = "");

}  // namespace boolgrad
