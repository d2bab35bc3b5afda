#include "boolgrad/model/samples.h"

#include <fmt/format.h>

#include <numeric>
#include <string_view>
#include <utility>

#include "boolgrad/core/error.h"
#include "boolgrad/data/bytes_file.h"
#include "boolgrad/data/cifar.h"
#include "boolgrad/data/csv_table.h"
#include "boolgrad/data/idx.h"
#include "boolgrad/data/monk.h"
#include "boolgrad/data/npy.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/core/random_streams.h"

namespace boolgrad {
namespace {

constexpr std::string_view where = "data";

std::uint64_t seed_of(const Experiment& experiment) {
  return static_cast<std::uint64_t>(experiment.seed);
}

bool has_values(const Experiment& experiment) {
  return experiment.head.kind == HeadKind::regression;
}

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    parts.emplace_back(list.substr(0, comma));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return parts;
}

/// Samples with what they mean.
struct Read {
  SampleSet samples;
  DataForm form;
};

bool is_file(const Experiment& experiment) { return experiment.task.kind == "csv"; }
bool is_generated(const Experiment& experiment) { return experiment.task.kind.starts_with("monk"); }

void check_path(const Experiment& experiment, const std::string& path) {
  if (is_generated(experiment)) return;
  if (path.empty()) {
    fail(where, "expected --data with the {} of {}, received none",
         is_file(experiment) ? "file" : "folder", experiment.name);
  }
  if (is_file(experiment)) return;
  constexpr std::string_view of_debian = "/usr/share/datasets/";
  check_folder(where, path,
               path.starts_with(of_debian)
                   ? "; install the package dataset-fashion-mnist or give --data DIR"
                   : "");
}

Read read_part(const Experiment& experiment, const std::string& path, bool test) {
  const std::string& kind = experiment.task.kind;
  Read result;
  if (kind == "idx") {
    LabelledPictures read = read_idx_pictures(path, test ? "t10k" : "train");
    result.samples = std::move(read.samples);
    result.form.channels = 1;
    result.form.height = read.height;
    result.form.width = read.width;
  } else if (kind == "cifar10") {
    result.samples = read_cifar10(cifar10_files(path, test));
    result.form.channels = 3;
    result.form.height = 32;
    result.form.width = 32;
  } else if (kind == "npy") {
    result.samples = read_npy_samples(path, test ? "test" : "train", has_values(experiment));
  } else {
    MonkProblem problem = monk_problem(kind.back() - '0');
    result.samples = test ? problem.test : problem.train;
    result.form = problem.form;
  }
  return result;
}

/// A file has one part for training and one for the test.
SampleSplit split_table(const Experiment& experiment, const SampleSet& samples) {
  return split_samples(samples, experiment.data.test, seed_of(experiment), test_stream);
}

Read read_training(const Experiment& experiment) {
  check_path(experiment, experiment.data.path);
  if (!is_file(experiment)) return read_part(experiment, experiment.data.path, false);
  Table table =
      read_table(experiment.data.path, {.target = experiment.data.target,
                                        .categories = parts_of(experiment.data.categories),
                                        .values = has_values(experiment)});
  return {split_table(experiment, table.samples).kept, table.form};
}

/// Names for classes that have none.
void name_classes(const SampleSet& train, DataForm& form) {
  const std::int64_t classes = count_classes(train, "the training labels");
  if (form.classes.empty()) {
    for (std::int64_t c = 0; c < classes; ++c) form.classes.push_back(std::to_string(c));
  }
  if (classes != std::ssize(form.classes)) {
    fail(where, "expected training samples of {} classes, received none of class '{}'",
         form.classes.size(), form.classes.back());
  }
}

}  // namespace

TrainingSamples load_training_samples(const Experiment& experiment) {
  Read read = read_training(experiment);
  if (has_values(experiment)) read.samples.labels = cast(read.samples.labels, DType::float32);
  SampleSplit split = split_samples(read.samples, experiment.data.validation, seed_of(experiment),
                                    validation_stream);
  TrainingSamples result{std::move(split.kept), std::move(split.taken), std::move(read.form)};
  const std::int64_t limit = experiment.data.limit;
  if (limit > 0 && limit < result.train.count()) {
    std::vector<std::int64_t> first(static_cast<std::size_t>(limit));
    std::iota(first.begin(), first.end(), 0);
    result.train = picked_samples(result.train, first);
  }
  if (!has_values(experiment)) {
    name_classes(result.train, result.form);
    check_classes(result.validation, std::ssize(result.form.classes), "the validation labels");
  }
  return result;
}

SampleSet load_test_samples(const Experiment& experiment, const Classifier& classifier,
                            const std::string& path) {
  const std::string& from = path.empty() ? experiment.data.path : path;
  check_path(experiment, from);
  SampleSet samples;
  if (is_file(experiment)) {
    samples = read_table_as(from, classifier.form);
    if (path.empty()) samples = split_table(experiment, samples).taken;
    if (samples.count() == 0) {
      fail(where,
           "expected samples for the test, received none: train with data.test above 0, or give "
           "--data with another file");
    }
  } else {
    samples = read_part(experiment, from, true).samples;
  }
  if (samples.feature_count() != classifier.thresholds.features()) {
    fail(where, "{}: expected {} features as the model has, received {}", from,
         classifier.thresholds.features(), samples.feature_count());
  }
  if (has_values(experiment)) {
    samples.labels = cast(samples.labels, DType::float32);
  } else {
    check_classes(samples, classifier.head.classes, "the test labels");
  }
  return samples;
}

}  // namespace boolgrad
