// Evaluation of all samples in batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "boolgrad/backend/device/network.h"

namespace boolgrad {

/// The number of samples per batch: all, or the largest multiple of `unit` (at least one) such that
/// the activations of two layers of width `widest` fit into `max_bytes`.
std::int64_t evaluation_batch(std::int64_t samples, std::int64_t widest, std::size_t max_bytes,
                              std::int64_t unit);

/// A batch of an evaluation: samples [first, first + count).
struct EvaluationPart {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Collects the scores of all batches.
class ScoreCollector {
 public:
  ScoreCollector(const NetworkSpec& spec, std::int64_t outputs, std::int64_t samples);

  /// Adds soft scores: one row per score, `stride` elements apart.
  void add_soft(const EvaluationPart& part, std::span<const float> rows, std::int64_t stride);
  /// Adds hard group sums, for networks with a head.
  void add_hard_sums(const EvaluationPart& part, std::span<const std::int32_t> rows,
                     std::int64_t stride);
  /// Adds hard outputs, for networks without a head: bit s of word w in a row is sample 32 w + s.
  void add_hard_bits(const EvaluationPart& part, std::span<const std::uint32_t> words,
                     std::int64_t words_per_row);

  /// Returns all scores.
  NetworkScores take() { return std::move(scores_); }

 private:
  std::int64_t samples_;
  NetworkScores scores_;
};

}  // namespace boolgrad
