// Cuts: up to four nodes that together decide another.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/circuit/bits/bit_circuit.h"
#include "boolgrad/circuit/passes/best_forms.h"

namespace boolgrad {

/// Nodes in ascending order and what they make of the node they belong to.
struct SmallCut {
  std::array<std::uint32_t, 4> leaves{};
  std::uint32_t signature = 0;  ///< a bit for every leaf, which several leaves may share
  SmallTruth truth = 0;
  std::uint8_t size = 0;
};

/// Cuts of the nodes of a circuit that grows, found when they are asked for.
class SmallCuts {
 public:
  SmallCuts(const BitCircuit& circuit, std::size_t max_cuts)
      : circuit_(circuit), max_cuts_(max_cuts) {}

  /// The smallest ones, and last the node itself. Valid until the next call.
  std::span<const SmallCut> of(std::uint32_t node) {
    find(node);
    return known(node);
  }

 private:
  /// Where the cuts of a node are; none where they were not asked for.
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };

  std::span<const SmallCut> known(std::uint32_t node) const {
    return std::span(cuts_).subspan(ranges_[node].first, ranges_[node].count);
  }
  void find(std::uint32_t node);
  void find_of_gate(const BitNode& gate);

  const BitCircuit& circuit_;
  std::size_t max_cuts_;
  std::vector<Range> ranges_;
  std::vector<SmallCut> cuts_;
  std::vector<SmallCut> found_;  ///< of the gate that is looked at
};

}  // namespace boolgrad
