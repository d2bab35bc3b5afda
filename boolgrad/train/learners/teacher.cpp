#include "boolgrad/train/learners/teacher.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "boolgrad/core/fail.h"
#include "boolgrad/data/npy.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::train {
namespace {

constexpr std::string_view where = "teacher";

/// The scores of the file in float64 [rows of the training file, classes].
Tensor read_scores(const std::string& path, const TrainingSamples& samples) {
  const Tensor scores = data::read_npy(path);
  if (scores.dtype() != DType::float32 && scores.dtype() != DType::float64) {
    fail(where, "{}: expected scores of float32 or float64, received {}", path,
         to_string(scores.dtype()));
  }
  const Shape wanted{samples.file_rows, std::ssize(samples.format.classes)};
  if (scores.shape() != wanted) {
    fail(where,
         "{}: expected scores {}, one row per sample of the training file and one column per "
         "class, received {}",
         path, to_string(wanted), to_string(scores.shape()));
  }
  Tensor result = cast(scores, DType::float64);
  const auto values = result.values<double>();
  const auto invalid = std::ranges::find_if(values, [](double x) { return !std::isfinite(x); });
  if (invalid != values.end()) {
    fail(where, "{}: expected finite scores, received {} in row {}", path, *invalid,
         (invalid - values.begin()) / wanted[1]);
  }
  return result;
}

void put_softmax(std::span<const double> scores, double temperature, std::span<float> to) {
  const double largest = *std::ranges::max_element(scores);
  const auto weight = [&](double score) { return std::exp((score - largest) / temperature); };
  double sum = 0;
  for (const double score : scores) sum += weight(score);
  for (std::size_t c = 0; c < scores.size(); ++c) {
    to[c] = static_cast<float>(weight(scores[c]) / sum);
  }
}

}  // namespace

Tensor soft_targets(const TeacherOptions& teacher, const TrainingSamples& samples) {
  const Tensor scores = read_scores(teacher.path, samples);
  const auto classes = static_cast<std::size_t>(scores.shape()[1]);
  Tensor targets({std::ssize(samples.train_rows), scores.shape()[1]}, DType::float32);
  for (std::size_t s = 0; s < samples.train_rows.size(); ++s) {
    const auto row = static_cast<std::size_t>(samples.train_rows[s]);
    put_softmax(scores.values<double>().subspan(row * classes, classes), teacher.temperature,
                targets.mutable_values<float>().subspan(s * classes, classes));
  }
  return targets;
}

}  // namespace boolgrad::train
