// Which samples each step learns from.
#pragma once

#include <cstdint>
#include <vector>

namespace boolgrad {

/// The order in which an epoch goes through `cases` cases, drawn at (seed, epoch).
std::vector<std::int64_t> epoch_order(std::int64_t cases, std::int64_t epoch, std::uint64_t seed);

/// Batches one after the other through all epochs. A batch is a function of seed and step alone, so
/// a run that is resumed sees the same ones; the order of the last epoch asked for is kept.
class BatchOrder {
 public:
  BatchOrder(std::int64_t cases, std::int64_t batch, std::uint64_t seed)
      : cases_(cases), batch_(batch), seed_(seed) {}

  /// Position p of the run is place p mod cases in the order of epoch p / cases.
  std::vector<std::int64_t> picked(std::int64_t step);

 private:
  std::int64_t cases_;
  std::int64_t batch_;
  std::uint64_t seed_;
  std::int64_t epoch_ = -1;  ///< the one that `order_` belongs to
  std::vector<std::int64_t> order_;
};

}  // namespace boolgrad
