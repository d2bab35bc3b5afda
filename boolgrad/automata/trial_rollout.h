// Hardened rules that are looked at once each: where they lead, without a circuit made of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/automata/bit_grid.h"
#include "boolgrad/automata/rule.h"

namespace boolgrad {

/// Counts the bits that a hardened rule gets wrong, again and again while its tables change.
///
/// `BitAutomaton` makes a simplified circuit first, which pays over many steps of many cells. Here
/// constants and wires are followed and gates that nothing depends on are left out, and no more: a
/// look at a rule takes well under a millisecond on a small grid. Cells of all grids lie one after
/// the other, 64 in a word.
class TrialRollout {
 public:
  /// `rule`, of gates of two inputs, outlives this; its tables and masks may change. `fire` is
  /// empty, or has a grid of one channel a step. `target`: uint8 [channels, grids or 1, height,
  /// width], compared with the first channels of the last state.
  TrialRollout(const Rule& rule, const BitGrid& starts, const std::vector<BitGrid>& fire,
               std::int64_t steps, const Tensor& target);

  /// For the rule as it is now.
  std::int64_t wrong_bits();

 private:
  using Plane = std::vector<std::uint64_t>;  ///< a bit a cell

  /// Cells that receive what lies `offset` cells after them.
  struct Move {
    std::int64_t offset = 0;
    Plane to;
  };

  /// A table of two planes, whose values go to the plane of the gate's own.
  struct Gate {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint8_t table = 0;
    bool used = false;
  };

  void list_moves(Border border);
  void collect_gates();
  std::vector<std::uint32_t> apply(const LogicNetwork& network, std::span<const Tensor> tables,
                                   std::vector<std::uint32_t> values);
  std::uint32_t add_gate(std::uint32_t a, std::uint32_t b, unsigned table);
  void mark_used();
  void step(std::size_t index);
  void look_around();
  std::uint64_t* plane(std::size_t index) { return planes_.data() + index * words_; }

  const Rule& rule_;
  std::int64_t batch_;
  std::int64_t height_;
  std::int64_t width_;
  std::int64_t steps_;
  std::size_t words_;
  std::size_t target_channels_;
  std::array<std::vector<Move>, 9> moves_;  ///< by place
  Plane cells_;                             ///< bits that are cells
  Plane starts_;                            ///< of all channels
  Plane target_;                            ///< of its channels
  Plane fire_;                              ///< of all steps
  Plane planes_;                            ///< 0, 1, nine places of every channel, gates
  std::vector<Gate> gates_;
  std::vector<std::uint32_t> outputs_;  ///< where the new channels are
  std::vector<bool> used_;              ///< of the planes that are no gates
  Plane next_;
};

}  // namespace boolgrad
