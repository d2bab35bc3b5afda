// Local search over single table entries of a hardened model.
#pragma once

#include <cstdint>

#include "boolgrad/train/learners/learner.h"

namespace boolgrad::train {

struct LocalSearchOptions {
  std::int64_t candidates = 64;  ///< number of least certain moves that a pass tries
  /// Number of random moves that follow. Each is accepted if it does no harm: neutral moves can
  /// make later improvements possible.
  std::int64_t random_moves = 0;
  std::uint64_t seed = 0;  ///< of the random moves
  std::uint32_t step = 0;
};

struct LocalSearchStats {
  double before = 0;  ///< bit errors
  double after = 0;
  std::int64_t tried = 0;
  std::int64_t accepted = 0;
};

/// Tries moves of active gates, the least certain first, and accepts those that reduce the number
/// of bit errors, until no move helps or no error is left. Then tries random moves.
///
/// A move of `sigmoid` flips one table entry: its logit z becomes -z, and its certainty is |z|. A
/// move of `softmax16` swaps the logits of the two most likely gates; its certainty is their
/// difference. The model's parameters are changed in place.
LocalSearchStats local_search(Learner& learner, const LocalSearchOptions& options);

/// Saturates all logits in place, so that soft tables equal the hard ones in single precision:
/// ±40 for `sigmoid`; for `softmax16`, 40 for the most likely gate and 0 for the others.
void saturate_logits(Model& model);

}  // namespace boolgrad::train
