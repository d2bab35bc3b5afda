// What passes share that make a circuit anew.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/circuit/bits/bit_circuit.h"

namespace boolgrad {

inline bool is_gate(const BitNode& node) {
  return node.kind == BitNodeKind::conjunction || node.kind == BitNodeKind::exclusive_or;
}

inline BitLiteral built(BitCircuit& circuit, BitNodeKind kind, BitLiteral a, BitLiteral b) {
  return kind == BitNodeKind::conjunction ? circuit.conjunction(a, b) : circuit.exclusive_or(a, b);
}

/// Which nodes are needed: those that something needed reads.
class Readers {
 public:
  explicit Readers(const BitCircuit& circuit) : circuit_(circuit) {}

  /// Counts a reader more; how many gates are needed because of it.
  int retain(std::uint32_t first) {
    counts_.resize(circuit_.nodes().size(), 0);
    int gates = 0;
    walk(
        first, [&](std::uint32_t node) { return counts_[node]++ == 0; }, [&] { ++gates; });
    return gates;
  }

  void release(std::uint32_t first) {
    walk(
        first, [&](std::uint32_t node) { return --counts_[node] == 0; }, [] {});
  }

  bool is_read(std::uint32_t node) const { return node < counts_.size() && counts_[node] > 0; }

 private:
  /// Goes on below a gate where `changes` says so.
  template <class Changes, class Found>
  void walk(std::uint32_t first, const Changes& changes, const Found& found) {
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

/// How often gates that are reachable, and outputs, read each node.
std::vector<std::uint32_t> reads_of(const BitCircuit& circuit, const std::vector<bool>& reachable);

/// The same gates without those that no output needs.
BitCircuit compacted(const BitCircuit& circuit);

}  // namespace boolgrad
