// Sums over the blocks of a batch, in an order that does not depend on how many processes there
// are.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "boolgrad/core/group.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad::train {

/// A batch that is split into equal blocks. Every rank of a group computes as many of them, one
/// after the other.
class Blocks {
 public:
  /// Throws unless the number of blocks is a multiple of the number of ranks and divides the batch.
  Blocks(Group& group, std::int64_t blocks, std::int64_t batch);

  Group& group() const { return group_; }
  std::int64_t count() const { return count_; }
  std::int64_t samples() const { return samples_; }  ///< of a block
  /// The blocks of this rank: [first, last).
  std::int64_t first() const { return group_.rank() * (count_ / group_.size()); }
  std::int64_t last() const { return first() + count_ / group_.size(); }

 private:
  Group& group_;
  std::int64_t count_;
  std::int64_t samples_;
};

/// Loss and gradients of a batch from those of its blocks: sums of neighbours, then sums of pairs,
/// and so on, within a rank and between ranks. The same bits for 1, 2, 4, ... ranks.
class BlockSum {
 public:
  explicit BlockSum(const Blocks& blocks) : blocks_(blocks) {}

  /// Adds the next block of this rank. The gradients are taken over; undefined ones count as zero.
  void add(double loss, std::vector<Tensor> gradients);

  /// The sums over all blocks of all ranks, times `factor`, once this rank's blocks were added.
  std::pair<double, std::vector<Tensor>> total(double factor);

 private:
  struct Part {
    int level;  ///< it is the sum of 2^level blocks
    double loss;
    std::vector<Tensor> gradients;
  };

  const Blocks& blocks_;
  std::vector<Part> parts_;
};

}  // namespace boolgrad::train
