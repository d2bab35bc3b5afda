// Incremental hard rollouts for local search over single table entries.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/automata/bit_grid.h"
#include "boolgrad/automata/rule.h"

namespace boolgrad::automata {

/// Counts the errors of a hardened rule after an edit of one gate.
///
/// All values of all steps are stored, one bit per cell, so that an edit recomputes only the values
/// that it changes. The cost is small if few cells read the edited entry, and close to a full
/// rollout if their changes spread.
class EditedRollout {
 public:
  /// Starts from the current tables and masks of `rule`, whose gates must have two inputs. `fire`
  /// is empty or holds one grid of one channel per step. `target`, uint8 [channels, grids or 1,
  /// height, width], is compared with the first channels of the last `counted` states.
  EditedRollout(const Rule& rule, const BitGrid& starts, const std::vector<BitGrid>& fire,
                std::int64_t steps, const Tensor& target, std::int64_t counted = 1);

  /// The memory of such an object.
  static std::size_t bytes(const Rule& rule, const BitGrid& starts, std::int64_t steps);

  /// Bit errors of the current tables.
  std::int64_t errors() const { return errors_; }

  /// Bit errors if one gate had `table`, whose bit a + 2 b is the output for inputs a and b. Layers
  /// are numbered as in `Rule::parameters`.
  std::int64_t errors_with(std::size_t layer, std::int64_t gate, unsigned table);

  /// Applies the last edit passed to `errors_with`.
  void keep();

 private:
  using Plane = std::vector<std::uint64_t>;  ///< one bit per cell

  /// Cells whose neighbour is `offset` cells after them.
  struct Shift {
    std::int64_t offset = 0;
    Plane cells;
  };

  /// A gate of the update, or of perception for one channel.
  struct Gate {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t table = 0;  ///< index in `tables_`
  };

  /// A value of the edited rollout that differs from the stored one.
  struct Difference {
    std::size_t offset = 0;  ///< in `stored_`
    std::size_t words = 0;   ///< in `different_`
  };

  class Sink;

  void pack_grids(const BitGrid& starts, const std::vector<BitGrid>& fire, const Tensor& target);
  void list_shifts(Border border);
  void collect_gates(const Rule& rule);
  void list_readers();
  void run_all();

  void change_neighbours(std::size_t step, std::size_t channel);
  void record_difference(std::size_t step, std::uint32_t value, const std::uint64_t* words);
  void reevaluate_gates(std::size_t step, std::size_t changed_table, unsigned table);
  void find_changed_channels(std::size_t step);
  void count_changes(std::size_t step);
  void evaluate(const Gate& gate, unsigned table, std::size_t step, std::uint64_t* to) const;
  void next_state(std::size_t step, std::size_t channel, std::uint64_t* to) const;
  void neighbours(const std::uint64_t* own, std::size_t position, std::uint64_t* to) const;
  std::int64_t errors_in(std::size_t channel, const std::uint64_t* shown) const;
  /// Whether the state after `step` steps is compared with the target.
  bool counts(std::size_t step) const { return step + counted_ > steps_; }

  std::size_t offset_of(std::size_t step, std::size_t value) const {
    return (step * values_ + value) * words_;
  }
  const std::uint64_t* current(std::size_t step, std::uint32_t value) const {
    return differs_[value] == mark_ ? different_.data() + different_at_[value]
                                    : stored_.data() + offset_of(step, value);
  }

  std::int64_t batch_;
  std::int64_t height_;
  std::int64_t width_;
  std::size_t steps_;
  std::size_t counted_;  ///< number of last states that are compared
  std::size_t words_;
  std::size_t channels_;
  std::size_t target_channels_;
  std::size_t values_ = 0;  ///< per step: a constant 0, nine neighbours per channel, gates

  std::array<std::vector<Shift>, 9> shifts_;  ///< by neighbour
  Plane cells_;                               ///< bits that are cells
  Plane target_;
  Plane fire_;  ///< of all steps; empty if all cells fire

  std::vector<Gate> gates_;
  std::vector<std::uint8_t> tables_;
  std::vector<std::size_t> first_table_;                    ///< of each layer
  std::vector<std::vector<std::uint32_t>> gates_of_table_;  ///< perception has one per channel
  std::vector<std::uint32_t> outputs_;                      ///< the values of the new channels
  std::vector<std::size_t> first_reader_;                   ///< of each value
  std::vector<std::uint32_t> readers_;

  Plane stored_;  ///< all values of all steps, and the last state
  std::int64_t errors_ = 0;

  // The last edit.
  std::uint32_t mark_ = 0;              ///< of the current step
  std::vector<std::uint32_t> differs_;  ///< equal to the mark for values that differ in this step
  std::vector<std::size_t> different_at_;  ///< offsets of their words
  Plane different_;
  std::vector<Difference> differences_;  ///< of all steps
  std::vector<std::uint64_t> pending_;   ///< gates to evaluate again, one bit per gate
  std::vector<std::size_t> changed_;     ///< channels that differ after the step
  Plane changed_states_;                 ///< their states
  Plane scratch_;
  std::int64_t edited_errors_ = 0;
  std::size_t edited_table_ = 0;
  std::uint8_t edited_truth_ = 0;
};

}  // namespace boolgrad::automata
