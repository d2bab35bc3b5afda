// Hardened rules, run on bits.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/automata/bit_grid.h"
#include "boolgrad/automata/rule.h"
#include "boolgrad/automata/rule_netlist.h"
#include "boolgrad/circuit/bits/bit_circuit.h"
#include "boolgrad/circuit/bits/bit_program.h"

namespace boolgrad {

/// Steps grids with a hardened rule.
class BitAutomaton {
 public:
  explicit BitAutomaton(const Rule& rule);
  /// With another circuit that computes what `hardened_circuit` does.
  BitAutomaton(const Rule& rule, const BitCircuit& circuit);

  std::int64_t channels() const { return channels_; }
  /// What a cell computes in a step: inputs and outputs as those of `hardened_circuit`.
  const BitProgram& program() const { return program_; }
  /// Gates of two inputs that a cell computes in a step.
  std::int64_t operations() const { return program_.operations(); }

  /// One step of all cells, or of those only that are 1 in `fire`, a grid of one channel.
  void step(BitGrid& state, const BitGrid* fire = nullptr);

  /// Step `index` of a run whose fire masks are `fire`, as a rollout takes them: uint8 [steps,
  /// batch, height, width], undefined where all cells fire.
  void step(BitGrid& state, const Tensor& fire, std::int64_t index);

 private:
  void look_around(BitGrid& state);
  void take_over(BitGrid& state, const BitGrid* fire) const;

  std::int64_t channels_;
  Border border_;
  BitProgram program_;
  // Each channel moved by a cell to either side, and the next state; kept between steps.
  std::vector<std::uint64_t> left_;
  std::vector<std::uint64_t> right_;
  std::vector<std::uint64_t> next_;
};

}  // namespace boolgrad
