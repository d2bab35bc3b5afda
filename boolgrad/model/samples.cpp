#include "boolgrad/model/samples.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <numeric>
#include <string_view>
#include <utility>

#include "boolgrad/core/error.h"
#include "boolgrad/core/random_streams.h"
#include "boolgrad/data/bytes_file.h"
#include "boolgrad/data/cifar.h"
#include "boolgrad/data/csv_table.h"
#include "boolgrad/data/idx.h"
#include "boolgrad/data/monk.h"
#include "boolgrad/data/npy.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad {
namespace {

constexpr std::string_view where = "data";

std::uint64_t seed_of(const ModelSpec& spec) { return static_cast<std::uint64_t>(spec.seed); }

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

bool is_file(const ModelSpec& spec) { return spec.task.kind == TaskKind::csv; }
bool is_generated(const ModelSpec& spec) { return spec.task.kind >= TaskKind::monk1; }

void check_path(const ModelSpec& spec, const std::string& path) {
  if (is_generated(spec)) return;
  if (path.empty()) {
    fail(where, "expected --data with the {} of {}, received none",
         is_file(spec) ? "file" : "folder", spec.name);
  }
  if (is_file(spec)) return;
  constexpr std::string_view of_debian = "/usr/share/datasets/";
  check_folder(where, path,
               path.starts_with(of_debian)
                   ? "; install the package dataset-fashion-mnist or give --data DIR"
                   : "");
}

Read read_part(const ModelSpec& spec, const std::string& path, bool test, bool values) {
  const TaskKind kind = spec.task.kind;
  Read result;
  if (kind == TaskKind::idx) {
    LabelledPictures read = read_idx_pictures(path, test ? "t10k" : "train");
    result.samples = std::move(read.samples);
    result.form.channels = 1;
    result.form.height = read.height;
    result.form.width = read.width;
  } else if (kind == TaskKind::cifar10) {
    result.samples = read_cifar10(cifar10_files(path, test));
    result.form.channels = 3;
    result.form.height = 32;
    result.form.width = 32;
  } else if (kind == TaskKind::npy) {
    result.samples = read_npy_samples(path, test ? "test" : "train", values);
  } else {
    MonkProblem problem =
        monk_problem(static_cast<int>(kind) - static_cast<int>(TaskKind::monk1) + 1);
    result.samples = test ? problem.test : problem.train;
    result.form = problem.form;
  }
  return result;
}

/// A file has one part for training and one for the test.
SampleSplit split_table(const ModelSpec& spec, const SampleSet& samples) {
  return split_samples(samples, spec.data.test, seed_of(spec), test_stream);
}

Read read_training(const ModelSpec& spec, bool values) {
  check_path(spec, spec.data.path);
  if (!is_file(spec)) return read_part(spec, spec.data.path, false, values);
  Table table = read_table(
      spec.data.path,
      {.target = spec.data.target, .categories = parts_of(spec.data.categories), .values = values});
  return {split_table(spec, table.samples).kept, table.form};
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

namespace {

TrainingSamples read_training_samples(const ModelSpec& spec, bool values) {
  Read read = read_training(spec, values);
  if (values) read.samples.labels = cast(read.samples.labels, DType::float32);
  SampleSplit split =
      split_samples(read.samples, spec.data.validation, seed_of(spec), validation_stream);
  TrainingSamples result{std::move(split.kept), std::move(split.taken), std::move(read.form)};
  const std::int64_t limit = spec.data.limit;
  if (limit > 0 && limit < result.train.count()) {
    std::vector<std::int64_t> first(static_cast<std::size_t>(limit));
    std::iota(first.begin(), first.end(), 0);
    result.train = picked_samples(result.train, first);
  }
  if (!values) {
    name_classes(result.train, result.form);
    check_classes(result.validation, std::ssize(result.form.classes), "the validation labels");
  }
  return result;
}

/// Everything that decides which samples are loaded.
std::string key_of(const ModelSpec& spec, bool values) {
  const DataOptions& data = spec.data;
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}", to_string(spec.task.kind), data.path,
                     data.target, data.categories, data.validation, data.test, data.limit,
                     spec.seed, values);
}

}  // namespace

std::shared_ptr<const TrainingSamples> load_training_samples(const ModelSpec& spec, bool values) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const TrainingSamples>> loaded;
  const std::lock_guard lock(mutex);
  std::weak_ptr<const TrainingSamples>& known = loaded[key_of(spec, values)];
  if (auto samples = known.lock()) return samples;
  auto samples = std::make_shared<const TrainingSamples>(read_training_samples(spec, values));
  known = samples;
  return samples;
}

SampleSet load_test_samples(const ModelSpec& spec, const Classifier& classifier,
                            const std::string& path) {
  const bool values = classifier.head.kind == HeadKind::regression;
  const std::string& from = path.empty() ? spec.data.path : path;
  check_path(spec, from);
  SampleSet samples;
  if (is_file(spec)) {
    samples = read_table_as(from, classifier.form);
    if (path.empty()) samples = split_table(spec, samples).taken;
    if (samples.count() == 0) {
      fail(where,
           "expected samples for the test, received none: train with data.test above 0, or give "
           "--data with another file");
    }
  } else {
    samples = read_part(spec, from, true, values).samples;
  }
  if (samples.feature_count() != classifier.thresholds.features()) {
    fail(where, "{}: expected {} features as the model has, received {}", from,
         classifier.thresholds.features(), samples.feature_count());
  }
  if (values) {
    samples.labels = cast(samples.labels, DType::float32);
  } else {
    check_classes(samples, classifier.head.classes, "the test labels");
  }
  return samples;
}

}  // namespace boolgrad
