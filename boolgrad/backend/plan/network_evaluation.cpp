#include "boolgrad/backend/plan/network_evaluation.h"

#include <algorithm>
#include <utility>

namespace boolgrad {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

constexpr std::int64_t bits_per_word = 32;

template <class T>
void copy_rows(const EvaluationPart& part, std::span<const T> rows, std::int64_t stride,
               Tensor& to) {
  const std::int64_t samples = to.shape()[1];
  const auto values = to.mutable_values<T>();
  for (std::int64_t row = 0; row < to.shape()[0]; ++row) {
    std::ranges::copy(rows.subspan(index(row * stride), index(part.count)),
                      values.begin() + row * samples + part.first);
  }
}

}  // namespace

std::int64_t evaluation_batch(std::int64_t samples, std::int64_t widest, std::size_t max_bytes,
                              std::int64_t unit) {
  const auto fitting = static_cast<std::int64_t>(
      max_bytes / (2 * sizeof(float) * index(std::max<std::int64_t>(widest, 1))));
  return std::min(samples, std::max(unit, fitting / unit * unit));
}

ScoreCollector::ScoreCollector(const NetworkSpec& spec, std::int64_t outputs, std::int64_t samples)
    : samples_(samples) {
  const Shape shape{spec.score_count(outputs), samples};
  scores_.soft = Tensor(shape, DType::float32);
  scores_.hard = Tensor(shape, spec.head ? DType::int32 : DType::uint8);
}

void ScoreCollector::add_soft(const EvaluationPart& part, std::span<const float> rows,
                              std::int64_t stride) {
  copy_rows(part, rows, stride, scores_.soft);
}

void ScoreCollector::add_hard_sums(const EvaluationPart& part, std::span<const std::int32_t> rows,
                                   std::int64_t stride) {
  copy_rows(part, rows, stride, scores_.hard);
}

void ScoreCollector::add_hard_bits(const EvaluationPart& part, std::span<const std::uint32_t> words,
                                   std::int64_t words_per_row) {
  const auto to = scores_.hard.mutable_values<std::uint8_t>();
  for (std::int64_t row = 0; row < scores_.hard.shape()[0]; ++row) {
    const auto bits = words.subspan(index(row * words_per_row), index(words_per_row));
    const auto own = to.subspan(index(row * samples_ + part.first), index(part.count));
    for (std::int64_t s = 0; s < part.count; ++s) {
      own[index(s)] =
          static_cast<std::uint8_t>(bits[index(s / bits_per_word)] >> (s % bits_per_word) & 1U);
    }
  }
}

}  // namespace boolgrad
