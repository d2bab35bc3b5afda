// Circuits for tests of bit programs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "boolgrad/circuit/bits/bit_circuit.h"
#include "boolgrad/core/random.h"

namespace boolgrad {

/// One word per input for 64 consecutive assignments, starting at 64 * block. Input j of assignment
/// i is bit j of i.
inline std::vector<std::uint64_t> all_cases(std::size_t inputs, std::uint64_t block = 0) {
  std::vector<std::uint64_t> words(inputs, 0);
  for (std::uint64_t i = 0; i < 64; ++i) {
    for (std::size_t j = 0; j < inputs; ++j) words[j] |= (((block * 64 + i) >> j) & 1) << i;
  }
  return words;
}

/// Whether two circuits of at least six inputs agree on every assignment.
inline bool same_function(const circuit::BitCircuit& a, const circuit::BitCircuit& b) {
  const auto inputs = static_cast<std::size_t>(a.inputs());
  for (std::uint64_t block = 0; block < (1ULL << inputs) / 64; ++block) {
    const auto words = all_cases(inputs, block);
    if (a.evaluate(words) != b.evaluate(words)) return false;
  }
  return true;
}

struct SumAndCarry {
  circuit::BitLiteral sum;
  circuit::BitLiteral carry;
};

/// A full adder of two independent tables.
inline SumAndCarry full_adder(circuit::BitCircuit& circuit, circuit::BitLiteral a,
                              circuit::BitLiteral b, circuit::BitLiteral c) {
  const std::array inputs{a, b, c};
  return {circuit.table(inputs, 0b10010110), circuit.table(inputs, 0b11101000)};
}

/// Conway's Life on nine inputs, a 3 by 3 neighbourhood in row-major order, with tables of at most
/// four inputs. Adders count the neighbours; exactly one of the four carries must be 1.
inline circuit::BitCircuit life_circuit() {
  circuit::BitCircuit circuit(9);
  const auto x = [&](std::int64_t i) { return circuit.input(i); };
  const SumAndCarry above = full_adder(circuit, x(0), x(1), x(2));
  const SumAndCarry below = full_adder(circuit, x(6), x(7), x(8));
  const SumAndCarry level = full_adder(circuit, x(3), x(5), circuit.constant(false));
  const SumAndCarry ones = full_adder(circuit, above.sum, below.sum, level.sum);
  const std::array carries{above.carry, below.carry, level.carry, ones.carry};
  const circuit::BitLiteral two_or_three = circuit.table(carries, 0x0116);
  circuit.add_output(circuit.conjunction(two_or_three, circuit.disjunction(ones.sum, x(4))));
  return circuit;
}

/// Random two-input gates. Each reads a recent and an older signal.
inline circuit::BitCircuit random_circuit(std::int64_t inputs, std::int64_t size,
                                          std::int64_t outputs, std::uint64_t seed) {
  circuit::BitCircuit circuit(inputs);
  std::vector<circuit::BitLiteral> literals{circuit.constant(false)};
  for (std::int64_t i = 0; i < inputs; ++i) literals.push_back(circuit.input(i));
  std::uint64_t index = 0;
  const auto below = [&](std::uint64_t bound) {
    return random_below({.seed = seed, .index = index++}, bound);
  };
  for (std::int64_t i = 0; i < size; ++i) {
    const std::uint64_t recent = std::min<std::uint64_t>(literals.size(), 12);
    const std::array pair{literals[literals.size() - 1 - below(recent)],
                          literals[below(literals.size())]};
    literals.push_back(circuit.table(pair, below(16)));
  }
  for (std::int64_t i = 0; i < outputs; ++i) {
    circuit.add_output(literals[literals.size() - 1 - below(literals.size())] ^ (below(2) != 0));
  }
  return circuit;
}

}  // namespace boolgrad
