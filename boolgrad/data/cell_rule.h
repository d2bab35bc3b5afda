// Rules of cellular automata over the 3x3 neighbourhood, by name, by truth table and by examples.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad::data {

/// The largest number of states per cell.
inline constexpr int max_cell_states = 4;

/// The states of a cell and its neighbours in row-major order; 4 is the cell itself.
using Neighbourhood = std::array<std::uint8_t, 9>;

/// Which numbers of living neighbours give birth to a cell and let it survive, as sets of bits.
struct NeighbourCounts {
  unsigned birth = 0;
  unsigned survival = 0;
  bool orthogonal_only = false;  ///< count the four orthogonal neighbours only
};

/// The next state of a cell for every neighbourhood.
///
/// A rule that counts neighbours has states 0 (dead), 1 (alive) and, with more than two states, 2,
/// 3, ... of cells that are dying: they neither live nor can be born, and go through the states in
/// this order.
class CellRule {
 public:
  /// A rule that counts neighbours. Throws for a number of states outside 2 to `max_cell_states`.
  CellRule(const NeighbourCounts& counts, int states);
  /// A rule by table: the next state for every neighbourhood, in the order of `index`. Entries
  /// without a value are unknown.
  CellRule(std::string name, int states, std::vector<std::optional<std::uint8_t>> table);

  /// `B36/S23`, `B2/S/3`, or what a table was called.
  const std::string& name() const { return name_; }
  /// Number of states of a cell.
  int states() const { return states_; }
  /// Bits per cell of an automaton with this rule: one per state other than 0.
  std::int64_t channels() const { return states_ - 1; }
  /// Number of neighbourhoods: states^9.
  std::int64_t neighbourhoods() const { return neighbourhoods_; }
  /// Number of neighbourhoods whose next state is known.
  std::int64_t known() const;

  /// The next state; none if it is unknown.
  std::optional<std::uint8_t> next(const Neighbourhood& cells) const;
  /// The number of a neighbourhood: the state of cell i is digit i in the base of `states`.
  std::int64_t index(const Neighbourhood& cells) const;

  /// One step on a torus, uint8 [grids, height, width]. Cells with an unknown next state keep
  /// theirs; `is_known`, if given, receives a 0 for them and a 1 for all others.
  Tensor step(const Tensor& grids, Tensor* is_known = nullptr) const;

 private:
  std::string name_;
  int states_;
  std::int64_t neighbourhoods_;
  std::optional<NeighbourCounts> counts_;
  std::vector<std::optional<std::uint8_t>> table_;  ///< of rules without counts
};

/// Parses `B36/S23`, `B2/S/3` (three states), `B2/S013V` (orthogonal neighbours only), or the 128
/// hexadecimal digits of a table of two states: bit n of the number is the next state for
/// neighbourhood n. Throws for rules over larger or other neighbourhoods.
CellRule parse_cell_rule(std::string_view text);

/// Whether a text is a truth table rather than a name.
bool is_rule_table(std::string_view text);

/// The rule that was seen in successive states: an NPY file [steps, height, width], or [pairs, 2,
/// height, width] with pairs of a state and the next, or the frames of a GIF file. Cells at the
/// edge are read as neighbours only. Throws if two cells with the same neighbourhood became
/// different.
CellRule read_examples(const std::filesystem::path& path);

/// The bits of states, uint8 [grids, height, width], as an automaton has them: [channels, grids,
/// height, width]. State k sets channel k - 1.
Tensor bits_of_states(const Tensor& states, int count);

/// The states of bits [channels, grids, height, width]: the first channel that is set.
Tensor states_of_bits(const Tensor& bits);

}  // namespace boolgrad::data
