#include "boolgrad/model/samples.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <numeric>
#include <string_view>
#include <utility>

#include "boolgrad/core/fail.h"
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

bool is_file(const ModelSpec& spec) { return spec.task.kind == data::TaskKind::csv; }
bool is_generated(const ModelSpec& spec) { return spec.task.kind >= data::TaskKind::monk1; }

void check_path(const ModelSpec& spec, const std::string& path) {
  if (is_generated(spec)) return;
  if (path.empty()) {
    fail(where, "{} needs data: give its {} with --data", spec.name,
         is_file(spec) ? "file" : "folder");
  }
  if (is_file(spec)) return;
  constexpr std::string_view of_debian = "/usr/share/datasets/";
  data::check_folder(where, path,
                     path.starts_with(of_debian)
                         ? "; install the package dataset-fashion-mnist or use --data DIR"
                         : "");
}

data::DescribedSamples read_part(const ModelSpec& spec, const std::string& path, bool test,
                                 bool values) {
  const data::TaskKind kind = spec.task.kind;
  data::DescribedSamples result;
  if (kind == data::TaskKind::idx) {
    data::LabelledImages read = data::read_idx_images(path, test ? "t10k" : "train");
    result.samples = std::move(read.samples);
    result.format.channels = 1;
    result.format.height = read.height;
    result.format.width = read.width;
  } else if (kind == data::TaskKind::cifar10) {
    result.samples = data::read_cifar10(data::cifar10_files(path, test));
    result.format.channels = 3;
    result.format.height = 32;
    result.format.width = 32;
  } else if (kind == data::TaskKind::npy) {
    result.samples = data::read_npy_samples(path, test ? "test" : "train", values);
  } else {
    data::MonkProblem problem =
        data::monk_problem(static_cast<int>(kind) - static_cast<int>(data::TaskKind::monk1) + 1);
    result.samples = test ? problem.test : problem.train;
    result.format = problem.format;
  }
  return result;
}

/// Splits a file into training and test samples.
data::SampleSplit split_table(const ModelSpec& spec, const data::SampleSet& samples) {
  return data::split_samples(samples, spec.data.test, seed_of(spec), test_stream);
}

std::vector<std::int64_t> first_numbers(std::int64_t count) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/// The samples of the training file, without those of the test.
struct TrainingFile {
  data::SampleSet samples;
  data::DataFormat format;
  std::int64_t rows = 0;                  ///< of the file
  std::vector<std::int64_t> sample_rows;  ///< of the samples
  std::int64_t dropped = 0;               ///< lines left out
};

TrainingFile read_training(const ModelSpec& spec, bool values) {
  if (spec.data.in_memory) {
    const auto& [samples, format] = *spec.data.in_memory;
    return {samples, format, samples.count(), first_numbers(samples.count()), 0};
  }
  check_path(spec, spec.data.path);
  if (!is_file(spec)) {
    data::DescribedSamples read = read_part(spec, spec.data.path, false, values);
    const std::int64_t rows = read.samples.count();
    return {std::move(read.samples), std::move(read.format), rows, first_numbers(rows), 0};
  }
  data::Table table = data::read_table(spec.data.path, table_options(spec, values));
  data::SampleSplit split = split_table(spec, table.samples);
  return {std::move(split.kept), std::move(table.format), table.samples.count(),
          std::move(split.kept_rows), table.dropped};
}

/// Names the classes by number if they have no names.
void name_classes(const data::SampleSet& train, data::DataFormat& format) {
  const std::int64_t classes = data::count_classes(train, "the training labels");
  if (format.classes.empty()) {
    for (std::int64_t c = 0; c < classes; ++c) format.classes.push_back(std::to_string(c));
  }
  if (classes != std::ssize(format.classes)) {
    fail(where, "expected training samples of all {} classes, received none of class '{}'",
         format.classes.size(), format.classes.back());
  }
}

}  // namespace

namespace {

TrainingSamples read_training_samples(const ModelSpec& spec, bool values) {
  TrainingFile read = read_training(spec, values);
  if (values) read.samples.labels = cast(read.samples.labels, DType::float32);
  data::SampleSplit split =
      data::split_samples(read.samples, spec.data.validation, seed_of(spec), validation_stream);
  TrainingSamples result{.train = std::move(split.kept),
                         .validation = std::move(split.taken),
                         .format = std::move(read.format),
                         .dropped = read.dropped,
                         .file_rows = read.rows,
                         .train_rows = {}};
  for (const std::int64_t kept : split.kept_rows) {
    result.train_rows.push_back(read.sample_rows[static_cast<std::size_t>(kept)]);
  }
  const std::int64_t limit = spec.data.limit;
  if (limit > 0 && limit < result.train.count()) {
    result.train = data::picked_samples(result.train, first_numbers(limit));
    result.train_rows.resize(static_cast<std::size_t>(limit));
  }
  data::choose_fills(result.format, result.train);
  data::fill_missing(result.train, result.format);
  data::fill_missing(result.validation, result.format);
  if (!values) {
    name_classes(result.train, result.format);
    data::check_classes(result.validation, std::ssize(result.format.classes),
                        "the validation labels");
  }
  return result;
}

/// Everything that determines the loaded samples.
std::string key_of(const ModelSpec& spec, bool values) {
  const DataOptions& data = spec.data;
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", to_string(spec.task.kind),
                     data.path, data.target, data.categories, data.ignore,
                     static_cast<int>(data.header), to_string(data.missing),
                     to_string(data.encoding), data.validation, data.test, data.limit, spec.seed,
                     values, static_cast<const void*>(data.in_memory.get()));
}

}  // namespace

data::TableOptions table_options(const ModelSpec& spec, bool values) {
  return {.target = spec.data.target,
          .categories = parts_of(spec.data.categories),
          .ignored = parts_of(spec.data.ignore),
          .values = values,
          .header = spec.data.header,
          .missing = spec.data.missing,
          .encoding = spec.data.encoding};
}

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

data::SampleSet load_test_samples(const ModelSpec& spec, const Classifier& classifier,
                                  const std::string& path) {
  const bool values = classifier.head.kind == HeadKind::regression;
  const std::string& from = path.empty() ? spec.data.path : path;
  check_path(spec, from);
  data::SampleSet samples;
  if (is_file(spec)) {
    samples = data::read_table_as(from, classifier.format);
    if (path.empty()) samples = split_table(spec, samples).taken;
    if (samples.count() == 0) {
      fail(where,
           "no test samples: train with data.test above 0, or give another file with --data");
    }
  } else {
    samples = read_part(spec, from, true, values).samples;
  }
  if (samples.feature_count() != classifier.thresholds.features()) {
    fail(where, "{}: expected {} features, as in the model, received {}", from,
         classifier.thresholds.features(), samples.feature_count());
  }
  if (values) {
    samples.labels = cast(samples.labels, DType::float32);
  } else {
    data::check_classes(samples, classifier.head.classes, "the test labels");
  }
  return samples;
}

}  // namespace boolgrad
