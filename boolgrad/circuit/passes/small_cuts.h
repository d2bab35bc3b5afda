// Cut enumeration: cuts of up to four leaves.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/circuit/bits/bit_circuit.h"
#include "boolgrad/circuit/passes/optimal_implementations.h"

namespace boolgrad::circuit {

/// The leaves of a cut in ascending order, and the function of its root over them.
struct SmallCut {
  std::array<std::uint32_t, 4> leaves{};
  std::uint32_t signature = 0;  ///< a bloom filter of the leaves
  SmallTruth truth = 0;
  std::uint8_t size = 0;
};

/// Cuts of the nodes of a growing circuit, or of a list of nodes, computed on demand.
class SmallCuts {
 public:
  SmallCuts(const BitCircuit& circuit, std::size_t max_cuts)
      : circuit_(&circuit), max_cuts_(max_cuts) {}
  SmallCuts(std::span<const BitNode> nodes, std::size_t max_cuts)
      : nodes_(nodes), max_cuts_(max_cuts) {}

  /// The smallest cuts of a node, then the trivial cut. Valid until the next call.
  std::span<const SmallCut> of(std::uint32_t node) {
    find(node);
    return known(node);
  }

 private:
  /// The range of a node's cuts in `cuts_`; empty if not yet computed.
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };

  std::span<const BitNode> nodes() const {
    return circuit_ != nullptr ? circuit_->nodes() : nodes_;
  }
  std::span<const SmallCut> known(std::uint32_t node) const {
    return std::span(cuts_).subspan(ranges_[node].first, ranges_[node].count);
  }
  void find(std::uint32_t node);
  void find_of_gate(const BitNode& gate);

  const BitCircuit* circuit_ = nullptr;
  std::span<const BitNode> nodes_;  ///< without a circuit
  std::size_t max_cuts_;
  std::vector<Range> ranges_;
  std::vector<SmallCut> cuts_;
  std::vector<SmallCut> found_;  ///< of the current gate
};

}  // namespace boolgrad::circuit
