// Evaluates the moves of a local search: a hardened model with one table changed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace boolgrad::train {

class MoveEvaluator {
 public:
  MoveEvaluator() = default;
  virtual ~MoveEvaluator() = default;
  MoveEvaluator(const MoveEvaluator&) = delete;
  MoveEvaluator& operator=(const MoveEvaluator&) = delete;

  /// Bit errors of the model with all accepted moves.
  virtual double errors() const = 0;

  /// Bit errors if, in addition, one gate has another table. Layers are numbered as parameters are;
  /// bit e of `table` is the output where input j is bit j of e. The caller has already changed the
  /// model's parameters accordingly.
  virtual double errors_with(std::size_t layer, std::int64_t gate, std::uint64_t table) = 0;

  /// Accepts the move that was evaluated last.
  virtual void accept() = 0;
};

}  // namespace boolgrad::train
