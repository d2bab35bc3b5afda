#include "boolgrad/circuit/bits/bit_schedule.h"

#include <algorithm>
#include <numeric>

namespace boolgrad::circuit {
namespace {

constexpr std::uint32_t none = 0;  // node 0 is a constant, never a gate

bool is_and(const BitNode& node) { return node.kind == BitNodeKind::conjunction; }
bool is_gate(const BitNode& node) { return is_and(node) || node.kind == BitNodeKind::exclusive_or; }

/// How often reachable gates and outputs read each node.
std::vector<int> count_readers(const BitCircuit& circuit, const std::vector<bool>& needed) {
  std::vector<int> readers(circuit.nodes().size(), 0);
  for (const BitLiteral output : circuit.outputs()) ++readers[output.node()];
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const BitNode& node = circuit.nodes()[i];
    if (!needed[i] || !is_gate(node)) continue;
    ++readers[node.a.node()];
    ++readers[node.b.node()];
  }
  return readers;
}

/// For each gate the gate that is fused into its step, or none. Proceeds from the inputs up, so
/// that chains split into pairs.
std::vector<std::uint32_t> pair_up(const BitCircuit& circuit, const std::vector<bool>& needed) {
  const std::vector<int> readers = count_readers(circuit, needed);
  std::vector<std::uint32_t> partner(needed.size(), none);
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const BitNode& node = circuit.nodes()[i];
    if (!needed[i] || !is_gate(node)) continue;
    for (const BitLiteral literal : {node.a, node.b}) {
      const std::uint32_t from = literal.node();
      if (is_gate(circuit.nodes()[from]) && readers[from] == 1 && partner[from] == none) {
        partner[i] = from;
      }
    }
  }
  return partner;
}

/// A gate of two literals, as v or its complement.
struct Joined {
  BitInner inner;
  bool complemented;
  std::uint32_t a;
  std::uint32_t b;
};

Joined join(const BitNode& node, BitLiteral a, BitLiteral b) {
  if (!is_and(node)) return {BitInner::exclusive_or, false, a.node(), b.node()};
  if (a.complemented() && b.complemented()) {
    return {BitInner::disjunction, true, a.node(), b.node()};
  }
  if (b.complemented()) return {BitInner::difference, false, a.node(), b.node()};
  if (a.complemented()) return {BitInner::difference, false, b.node(), a.node()};
  return {BitInner::conjunction, false, a.node(), b.node()};
}

BitOuter outer_of(const BitNode& node, bool v_complemented, bool c_complemented) {
  if (!is_and(node)) {
    return v_complemented != c_complemented ? BitOuter::equal : BitOuter::exclusive_or;
  }
  if (v_complemented) return c_complemented ? BitOuter::neither : BitOuter::outside;
  return c_complemented ? BitOuter::without : BitOuter::conjunction;
}

BitOperation single(std::uint32_t out, const BitNode& node) {
  const Joined v = join(node, node.a, node.b);
  const BitOuter outer = v.complemented ? BitOuter::complement : BitOuter::same;
  return {v.inner, outer, out, 2, {v.a, v.b, 0}};
}

// A AND B AND C is symmetric: sorting complemented inputs together reduces the number of kinds.
void gather_complements(BitLiteral& a, BitLiteral& b, BitLiteral& c) {
  std::array all{a, b, c};
  std::stable_sort(all.begin(), all.end(),
                   [](BitLiteral x, BitLiteral y) { return x.complemented() < y.complemented(); });
  if (all[1].complemented()) std::rotate(all.begin(), all.begin() + 1, all.end());
  a = all[0];
  b = all[1];
  c = all[2];
}

BitOperation fused(std::uint32_t out, const BitNode& node, std::uint32_t partner,
                   const BitNode& first) {
  const bool partner_is_a = node.a.node() == partner;
  const BitLiteral reads = partner_is_a ? node.a : node.b;
  BitLiteral a = first.a;
  BitLiteral b = first.b;
  BitLiteral c = partner_is_a ? node.b : node.a;
  if (is_and(node) && is_and(first) && !reads.complemented()) gather_complements(a, b, c);
  const Joined v = join(first, a, b);
  const BitOuter outer = outer_of(node, v.complemented != reads.complemented(), c.complemented());
  return {v.inner, outer, out, 3, {v.a, v.b, c.node()}};
}

std::vector<BitOperation> operations_of(const BitCircuit& circuit) {
  const std::vector<bool> needed = circuit.reachable();
  const std::vector<std::uint32_t> partner = pair_up(circuit, needed);
  std::vector<bool> inside(needed.size(), false);
  for (const std::uint32_t node : partner) inside[node] = true;
  std::vector<BitOperation> operations;
  for (std::uint32_t i = 0; i < needed.size(); ++i) {
    const BitNode& node = circuit.nodes()[i];
    if (!needed[i] || !is_gate(node) || inside[i]) continue;
    operations.push_back(partner[i] == none
                             ? single(i, node)
                             : fused(i, node, partner[i], circuit.nodes()[partner[i]]));
  }
  return operations;
}

/// List scheduling: picks the kind with the most ready gates and schedules it until none is ready.
class KindScheduler {
 public:
  KindScheduler(std::vector<BitOperation> operations, std::size_t nodes)
      : operations_(std::move(operations)),
        waits_for_(operations_.size(), 0),
        first_reader_(nodes + 1, 0) {
    std::vector<bool> computed(nodes, false);
    for (const BitOperation& operation : operations_) computed[operation.out] = true;
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      for (const std::uint32_t from : operations_[i].sources()) {
        if (!computed[from]) continue;
        ++waits_for_[i];
        ++first_reader_[from + 1];
      }
      if (waits_for_[i] == 0) ready_[kind_of(operations_[i])].push_back(i);
    }
    std::partial_sum(first_reader_.begin(), first_reader_.end(), first_reader_.begin());
    list_readers(computed);
  }

  std::vector<BitOperation> schedule() {
    std::vector<BitOperation> ordered;
    while (ordered.size() < operations_.size()) {
      auto& kind =
          *std::max_element(ready_.begin(), ready_.end(),
                            [](const auto& a, const auto& b) { return a.size() < b.size(); });
      while (!kind.empty()) {
        const std::uint32_t next = kind.back();
        kind.pop_back();
        ordered.push_back(operations_[next]);
        announce(operations_[next].out);
      }
    }
    return ordered;
  }

 private:
  static std::size_t kind_of(const BitOperation& operation) {
    return static_cast<std::size_t>(operation.outer) * bit_inners +
           static_cast<std::size_t>(operation.inner);
  }
  void list_readers(const std::vector<bool>& computed) {
    readers_.resize(first_reader_.back());
    std::vector<std::uint32_t> next(first_reader_.begin(), first_reader_.end() - 1);
    for (std::uint32_t i = 0; i < operations_.size(); ++i) {
      for (const std::uint32_t from : operations_[i].sources()) {
        if (computed[from]) readers_[next[from]++] = i;
      }
    }
  }
  void announce(std::uint32_t node) {
    for (std::uint32_t r = first_reader_[node]; r < first_reader_[node + 1]; ++r) {
      const std::uint32_t reader = readers_[r];
      if (--waits_for_[reader] == 0) ready_[kind_of(operations_[reader])].push_back(reader);
    }
  }

  std::vector<BitOperation> operations_;
  std::vector<int> waits_for_;
  std::vector<std::uint32_t> first_reader_;  // of each node
  std::vector<std::uint32_t> readers_;
  std::array<std::vector<std::uint32_t>, bit_inners * bit_outers> ready_;
};

}  // namespace

std::vector<BitOperation> scheduled(const BitCircuit& circuit) {
  return KindScheduler(operations_of(circuit), circuit.nodes().size()).schedule();
}

}  // namespace boolgrad::circuit
