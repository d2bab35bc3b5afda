// Helpers of passes that rebuild a circuit.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/circuit/bits/bit_circuit.h"

namespace boolgrad::circuit {

/// Whether a node is an AND or XOR.
inline bool is_gate(const BitNode& node) {
  return node.kind == BitNodeKind::conjunction || node.kind == BitNodeKind::exclusive_or;
}

/// Adds a gate to a circuit.
inline BitLiteral built(BitCircuit& circuit, BitNodeKind kind, BitLiteral a, BitLiteral b) {
  return kind == BitNodeKind::conjunction ? circuit.conjunction(a, b) : circuit.exclusive_or(a, b);
}

/// Reference counts of nodes. A node is in use if an output or a gate in use reads it.
class Readers {
 public:
  explicit Readers(const BitCircuit& circuit) : circuit_(circuit) {}

  /// Adds a reader and returns the number of gates that come into use.
  int retain(std::uint32_t first) {
    counts_.resize(circuit_.nodes().size(), 0);
    int gates = 0;
    traverse(
        first, [&](std::uint32_t node) { return counts_[node]++ == 0; }, [&] { ++gates; });
    return gates;
  }

  /// Removes a reader.
  void release(std::uint32_t first) {
    traverse(
        first, [&](std::uint32_t node) { return --counts_[node] == 0; }, [] {});
  }

  /// Whether a node is in use.
  bool is_read(std::uint32_t node) const { return node < counts_.size() && counts_[node] > 0; }

 private:
  /// Traverses the fan-in of a node. Continues below a gate if `changes(node)`.
  template <class Changes, class Found>
  void traverse(std::uint32_t first, const Changes& changes, const Found& found) {
    waiting_.assign(1, first);
    while (!waiting_.empty()) {
      const std::uint32_t node = waiting_.back();
      waiting_.pop_back();
      if (!changes(node) || !is_gate(circuit_.nodes()[node])) continue;
      found();
      waiting_.push_back(circuit_.nodes()[node].a.node());
      waiting_.push_back(circuit_.nodes()[node].b.node());
    }
  }

  const BitCircuit& circuit_;
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint32_t> waiting_;
};

/// How often reachable gates and outputs read each node.
std::vector<std::uint32_t> reads_of(const BitCircuit& circuit, const std::vector<bool>& reachable);

/// The circuit without dangling gates.
BitCircuit compacted(const BitCircuit& circuit);

}  // namespace boolgrad::circuit
