// Where a hardened rule leads once a single gate is another one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/automata/bit_grid.h"
#include "boolgrad/automata/rule.h"

namespace boolgrad {

/// Counts the bits that a hardened rule gets wrong, for one change of a gate after the other.
///
/// Every value of every step is kept, a bit a cell, so that a trial computes only what a change
/// makes different. That is little where few cells see the changed entry, and most of the rule
/// where what they do then spreads.
class TrialRollout {
 public:
  /// Starts from the tables and masks that `rule`, of gates of two inputs, has now. `fire` is
  /// empty, or has a grid of one channel a step. `target`: uint8 [channels, grids or 1, height,
  /// width], compared with the first channels of the last state.
  TrialRollout(const Rule& rule, const BitGrid& starts, const std::vector<BitGrid>& fire,
               std::int64_t steps, const Tensor& target);

  /// Memory that one takes.
  static std::size_t bytes(const Rule& rule, const BitGrid& starts, std::int64_t steps);

  /// For the tables that are kept.
  std::int64_t wrong_bits() const { return wrong_; }

  /// Where the gate has `table`, bit a + 2 b of which is its output for inputs a and b. Layers are
  /// counted as in `Rule::parameters`.
  std::int64_t wrong_bits_with(std::size_t layer, std::int64_t gate, unsigned table);

  /// Keeps the change that was tried last.
  void keep();

 private:
  using Plane = std::vector<std::uint64_t>;  ///< a bit a cell

  /// Cells that receive what lies `offset` cells after them.
  struct Move {
    std::int64_t offset = 0;
    Plane to;
  };

  /// A gate of the update, or of perception for one channel: a table of two values.
  struct Gate {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t table = 0;  ///< its number in `tables_`
  };

  /// A value of a trial that differs from the one that is kept.
  struct Difference {
    std::size_t place = 0;  ///< in `kept_`
    std::size_t words = 0;  ///< in `different_`
  };

  class Sink;

  void take_grids(const BitGrid& starts, const std::vector<BitGrid>& fire, const Tensor& target);
  void list_moves(Border border);
  void take_gates(const Rule& rule);
  void list_readers();
  void run_all();

  void change_channel(std::size_t step, std::size_t channel);
  void differ(std::size_t step, std::uint32_t value, const std::uint64_t* words);
  void settle_gates(std::size_t step, std::size_t changed_table, unsigned table);
  void list_changed(std::size_t step);
  void evaluate(const Gate& gate, unsigned table, std::size_t step, std::uint64_t* to) const;
  void next_state(std::size_t step, std::size_t channel, std::uint64_t* to) const;
  void look(const std::uint64_t* own, std::size_t place, std::uint64_t* to) const;
  std::int64_t wrong_in(std::size_t channel, const std::uint64_t* shown) const;

  std::size_t place_of(std::size_t step, std::size_t value) const {
    return (step * values_ + value) * words_;
  }
  const std::uint64_t* now(std::size_t step, std::uint32_t value) const {
    return differs_[value] == mark_ ? different_.data() + different_at_[value]
                                    : kept_.data() + place_of(step, value);
  }

  std::int64_t batch_;
  std::int64_t height_;
  std::int64_t width_;
  std::size_t steps_;
  std::size_t words_;
  std::size_t channels_;
  std::size_t target_channels_;
  std::size_t values_ = 0;  ///< of a step: a 0, nine places of every channel, gates

  std::array<std::vector<Move>, 9> moves_;  ///< by place
  Plane cells_;                             ///< bits that are cells
  Plane target_;
  Plane fire_;  ///< of all steps; empty where all cells fire

  std::vector<Gate> gates_;
  std::vector<std::uint8_t> tables_;
  std::vector<std::size_t> first_table_;                    ///< of each layer
  std::vector<std::vector<std::uint32_t>> gates_of_table_;  ///< every channel has its own
  std::vector<std::uint32_t> outputs_;                      ///< values that the new channels are
  std::vector<std::size_t> first_reader_;                   ///< of each value
  std::vector<std::uint32_t> readers_;

  Plane kept_;  ///< every value of every step, and the last state
  std::int64_t wrong_ = 0;

  // Of the last trial.
  std::uint32_t mark_ = 0;                 ///< of the step that is looked at
  std::vector<std::uint32_t> differs_;     ///< the mark, for values that differ in this step
  std::vector<std::size_t> different_at_;  ///< where their words are
  Plane different_;
  std::vector<Difference> differences_;   ///< of all steps
  std::vector<std::uint64_t> to_settle_;  ///< a bit a gate
  std::vector<std::size_t> changed_;      ///< channels that differ after the step
  Plane changed_states_;                  ///< what they are
  Plane scratch_;
  std::int64_t wrong_then_ = 0;
  std::size_t tried_table_ = 0;
  std::uint8_t tried_ = 0;
};

}  // namespace boolgrad
