// The samples of a classifier: those to learn from, those to evaluate on, and those for the test.
#pragma once

#include <memory>
#include <string>

#include "boolgrad/data/data_set.h"
#include "boolgrad/model/classifier.h"
#include "boolgrad/model/spec.h"

namespace boolgrad {

/// Both parts come from the training data; the test's samples are not read.
struct TrainingSamples {
  SampleSet train;
  SampleSet validation;  ///< of no samples where all of them are learned from
  DataForm form;
};

/// Loaded once per process and shared by all that ask for the same while somebody holds them.
/// `values` says whether labels are numbers to predict, not classes.
std::shared_ptr<const TrainingSamples> load_training_samples(const ModelSpec& spec, bool values);

/// The samples for the test: those of its data that training does not see or, where a
/// `path` is given, those of another folder or file. Refuses classes that the training data lacks
/// and features that do not fit `classifier`.
SampleSet load_test_samples(const ModelSpec& spec, const Classifier& classifier,
                            const std::string& path = "");

}  // namespace boolgrad
