// How an evaluation goes through all samples in parts, and puts together what they lead to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "boolgrad/backend/device/network.h"

namespace boolgrad {

/// Samples that an evaluation takes at a time: all, or a multiple of `unit` (at least one) whose
/// activations of two layers of `widest` rows fit into `max_bytes`.
std::int64_t evaluation_batch(std::int64_t samples, std::int64_t widest, std::size_t max_bytes,
                              std::int64_t unit);

/// Part of the samples of an evaluation: `count` of them from `first` on.
struct EvaluationPart {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// The scores of all samples, filled in part by part. Rows are those of `NetworkScores`, in order.
class ScoreCollector {
 public:
  ScoreCollector(const NetworkSpec& spec, std::int64_t outputs, std::int64_t samples);

  /// Sums or outputs of soft gates: rows that lie `stride` apart.
  void add_soft(const EvaluationPart& part, std::span<const float> rows, std::int64_t stride);
  /// Sums of hard gates, where there is a head.
  void add_hard_sums(const EvaluationPart& part, std::span<const std::int32_t> rows,
                     std::int64_t stride);
  /// Outputs of hard gates, where there is none: bit s of a row's word w is sample 32 w + s.
  void add_hard_bits(const EvaluationPart& part, std::span<const std::uint32_t> words,
                     std::int64_t words_per_row);

  NetworkScores take() { return std::move(scores_); }

 private:
  std::int64_t samples_;
  NetworkScores scores_;
};

}  // namespace boolgrad
