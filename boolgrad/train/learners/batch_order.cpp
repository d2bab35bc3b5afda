#include "boolgrad/train/learners/batch_order.h"

#include <numeric>
#include <utility>

#include "boolgrad/core/random.h"
#include "boolgrad/core/random_streams.h"

namespace boolgrad::train {

std::vector<std::int64_t> epoch_order(std::int64_t cases, std::int64_t epoch, std::uint64_t seed) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(cases));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    const std::uint64_t j = random_below({.seed = seed,
                                          .stream = batch_stream,
                                          .step = static_cast<std::uint32_t>(epoch),
                                          .index = i},
                                         i);
    std::swap(order[i - 1], order[j]);
  }
  return order;
}

std::vector<std::int64_t> BatchOrder::picked(std::int64_t step) {
  std::vector<std::int64_t> picked;
  picked.reserve(static_cast<std::size_t>(batch_));
  for (std::int64_t p = step * batch_; p < (step + 1) * batch_; ++p) {
    if (p / cases_ != epoch_) {
      epoch_ = p / cases_;
      order_ = epoch_order(cases_, epoch_, seed_);
    }
    picked.push_back(order_[static_cast<std::size_t>(p % cases_)]);
  }
  return picked;
}

}  // namespace boolgrad::train
