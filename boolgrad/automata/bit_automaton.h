// Bit-parallel simulation of hardened rules.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/automata/bit_grid.h"
#include "boolgrad/automata/rule.h"
#include "boolgrad/automata/rule_netlist.h"
#include "boolgrad/circuit/bits/bit_circuit.h"
#include "boolgrad/circuit/bits/bit_program.h"

namespace boolgrad::automata {

/// Steps grids with a hardened rule.
class BitAutomaton {
 public:
  /// Hardens a rule.
  explicit BitAutomaton(const Rule& rule);
  /// Uses another circuit, which must be equivalent to `hardened_circuit(rule)`.
  BitAutomaton(const Rule& rule, const circuit::BitCircuit& circuit);

  /// Number of channels per cell.
  std::int64_t channels() const { return channels_; }
  /// The program of one cell, with the inputs and outputs of `hardened_circuit`.
  const circuit::BitProgram& program() const { return program_; }
  /// Two-input gates per cell and step.
  std::int64_t operations() const { return program_.operations(); }

  /// Steps all cells, or only those that are 1 in `fire`, a grid of one channel.
  void step(BitGrid& state, const BitGrid* fire = nullptr);

  /// Step `index` of a run with the fire masks of `rollout`: uint8 [steps, batch, height, width],
  /// undefined if all cells fire.
  void step(BitGrid& state, const Tensor& fire, std::int64_t index);

 private:
  void gather_neighbours(BitGrid& state);
  void update_cells(BitGrid& state, const BitGrid* fire) const;

  std::int64_t channels_;
  Border border_;
  circuit::BitProgram program_;
  // All channels shifted by one cell to either side, and the next state. Reused between steps.
  std::vector<std::uint64_t> left_;
  std::vector<std::uint64_t> right_;
  std::vector<std::uint64_t> next_;
};

}  // namespace boolgrad::automata
