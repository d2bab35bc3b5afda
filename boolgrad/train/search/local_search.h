// Local search over single table entries of a hardened model.
#pragma once

#include <cstdint>

#include "boolgrad/train/learners/learner.h"

namespace boolgrad {

struct LocalSearchOptions {
  std::int64_t candidates = 64;  ///< least certain alternatives of active gates that are tried
  /// Single ones that are then drawn at random, of all, and kept where they do no harm: changes
  /// that make no difference now open ways to some that do.
  std::int64_t walk = 0;
  std::uint64_t seed = 0;  ///< of the walk
  std::uint32_t step = 0;
};

struct LocalSearchStats {
  double before = 0;  ///< wrong bits
  double after = 0;
  std::int64_t tried = 0;
  std::int64_t kept = 0;
};

/// Turns the alternatives of a hardened model's active gates over, the least certain first, and
/// keeps each change after which fewer bits are wrong, until none helps or no bit is wrong. Then
/// walks. An alternative is, for `sigmoid`, one entry of a table the other way (its logit z becomes
/// -z); for `softmax16`, the second likeliest gate (its logit and that of the likeliest change
/// places). How certain it is: |z|, or the difference of the two logits. The model's parameters are
/// changed in place.
LocalSearchStats local_search(Learner& learner, const LocalSearchOptions& options);

/// Makes every soft table what its hard one is, in place: for `sigmoid` logits of plus or minus 40,
/// for `softmax16` 40 for the likeliest gate and 0 for the others, so that no other value is left
/// in single precision.
void seal(Model& model);

}  // namespace boolgrad
