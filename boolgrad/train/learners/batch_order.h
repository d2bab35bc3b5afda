// The samples of each training step.
#pragma once

#include <cstdint>
#include <vector>

namespace boolgrad::train {

/// The random order of `cases` cases in an epoch, sampled at (seed, epoch).
std::vector<std::int64_t> epoch_order(std::int64_t cases, std::int64_t epoch, std::uint64_t seed);

/// Consecutive batches through all epochs. A batch depends on seed and step only, so a resumed run
/// sees the same ones. The order of the last epoch is cached.
class BatchOrder {
 public:
  BatchOrder(std::int64_t cases, std::int64_t batch, std::uint64_t seed)
      : cases_(cases), batch_(batch), seed_(seed) {}

  /// The cases of a step. Position p of the run is index p mod cases in the order of epoch p /
  /// cases.
  std::vector<std::int64_t> picked(std::int64_t step);

 private:
  std::int64_t cases_;
  std::int64_t batch_;
  std::uint64_t seed_;
  std::int64_t epoch_ = -1;  ///< the epoch of `order_`
  std::vector<std::int64_t> order_;
};

}  // namespace boolgrad::train
