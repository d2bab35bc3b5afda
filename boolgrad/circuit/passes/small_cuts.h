// Cuts: up to four nodes that together decide another.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "boolgrad/circuit/passes/best_forms.h"
#include "boolgrad/circuit/bits/bit_circuit.h"

namespace boolgrad {

/// Nodes in ascending order and what they make of the node they belong to.
struct SmallCut {
  std::array<std::uint32_t, 4> leaves{};
  std::uint8_t size = 0;
  SmallTruth truth = 0;
};

/// Cuts of the nodes of a circuit that grows, found when they are asked for.
class SmallCuts {
 public:
  SmallCuts(const BitCircuit& circuit, std::size_t most) : circuit_(circuit), most_(most) {}

  /// The smallest ones, and last the node itself. Valid until the next call.
  const std::vector<SmallCut>& of(std::uint32_t node);

 private:
  std::vector<SmallCut> found(std::uint32_t node);

  const BitCircuit& circuit_;
  std::size_t most_;
  std::vector<std::vector<SmallCut>> known_;
};

}  // namespace boolgrad
