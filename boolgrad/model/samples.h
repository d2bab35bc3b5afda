// The samples of an experiment: those to learn from, those to judge by, and those for the test.
#pragma once

#include <string>

#include "boolgrad/data/data_set.h"
#include "boolgrad/model/classifier.h"
#include "boolgrad/train/experiment/experiment.h"

namespace boolgrad {

/// Both parts come from the training data; the test's samples are not read.
struct TrainingSamples {
  SampleSet train;
  SampleSet validation;  ///< of no samples where all of them are learned from
  DataForm form;
};

TrainingSamples load_training_samples(const Experiment& experiment);

/// The samples for the test: those of the experiment's data that training does not see or, where a
/// `path` is given, those of another folder or file. Refuses classes that the training data lacks
/// and features that do not fit `classifier`.
SampleSet load_test_samples(const Experiment& experiment, const Classifier& classifier,
                            const std::string& path = "");

}  // namespace boolgrad
