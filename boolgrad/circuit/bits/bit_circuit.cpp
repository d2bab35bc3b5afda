#include "boolgrad/circuit/bits/bit_circuit.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "boolgrad/circuit/bits/bit_rewriting.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::circuit {
namespace {

// A literal has 32 bits, one of which is the complement.
constexpr std::int64_t max_nodes = std::numeric_limits<std::int32_t>::max();

bool is_gate(const BitNode& node) {
  return node.kind == BitNodeKind::conjunction || node.kind == BitNodeKind::exclusive_or;
}

// Complements of XOR inputs move to the output.
BitGate with_plain_inputs(BitGate gate) {
  if (gate.kind != BitNodeKind::exclusive_or) return gate;
  gate.flip = gate.flip != (gate.a.complemented() != gate.b.complemented());
  gate.a = BitLiteral(gate.a.node());
  gate.b = BitLiteral(gate.b.node());
  return gate;
}

std::uint64_t hash_of(const BitNode& gate) {
  // Inputs are ordered, so the reverse order can encode XOR.
  const std::uint64_t a = gate.a.code();
  const std::uint64_t b = gate.b.code();
  const std::uint64_t key = gate.kind == BitNodeKind::conjunction ? (a << 32) | b : (b << 32) | a;
  constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;
  const std::uint64_t mixed = (key ^ (key >> 32)) * golden;
  return mixed ^ (mixed >> 32);
}

bool same(const BitNode& x, const BitNode& y) {
  return x.kind == y.kind && x.a == y.a && x.b == y.b;
}

std::uint64_t word_of(std::span<const std::uint64_t> values, BitLiteral literal) {
  return values[literal.node()] ^ (literal.complemented() ? ~std::uint64_t{0} : 0);
}

}  // namespace

std::uint32_t& BitGateIndex::slot_of(const BitNode& gate, std::span<const BitNode> nodes) {
  // A load of at most one half keeps probe sequences short. Inputs count, too.
  if (slots_.size() < 2 * (nodes.size() + 1)) grow(nodes);
  return probe(gate, nodes);
}

void BitGateIndex::reserve(std::size_t nodes) { slots_.assign(std::bit_ceil(2 * (nodes + 1)), 0); }

std::uint32_t& BitGateIndex::probe(const BitNode& gate, std::span<const BitNode> nodes) {
  const std::size_t mask = slots_.size() - 1;
  const auto ends_at = [&](std::size_t at) {
    return slots_[at] == 0 || same(nodes[slots_[at]], gate);
  };
  // Try slots near gates that read the same net first: those were added recently and are in the
  // cache. Nets with many readers overflow to the whole table.
  constexpr std::size_t near = 8;
  const std::uint64_t hash = hash_of(gate);
  for (std::size_t i = 0; i < near; ++i) {
    const std::size_t at = (gate.b.code() + (hash + i) % near) & mask;
    if (ends_at(at)) return slots_[at];
  }
  std::size_t at = hash & mask;
  while (!ends_at(at)) at = (at + 1) & mask;
  return slots_[at];
}

void BitGateIndex::grow(std::span<const BitNode> nodes) {
  slots_.assign(std::bit_ceil(4 * (nodes.size() + 1)), 0);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (is_gate(nodes[i])) probe(nodes[i], nodes) = i;
  }
}

BitCircuit::BitCircuit(std::int64_t inputs) : inputs_(inputs) {
  if (inputs < 0 || inputs >= max_nodes) {
    fail("BitCircuit", "expected between 0 and {} inputs, received {}", max_nodes - 1, inputs);
  }
  nodes_.resize(static_cast<std::size_t>(inputs) + 1, {BitNodeKind::input, {}, {}});
  nodes_[0].kind = BitNodeKind::constant;
}

BitCircuit::Literal BitCircuit::input(std::int64_t index) const {
  if (index < 0 || index >= inputs_) {
    fail("BitCircuit", "expected an input below {}, received {}", inputs_, index);
  }
  return Literal(static_cast<std::uint32_t>(index) + 1);
}

void BitCircuit::check(const char* where, Literal literal) const {
  if (literal.node() >= nodes_.size()) {
    fail(where, "expected literals of a circuit of {} nodes, received node {}", nodes_.size(),
         literal.node());
  }
}

BitCircuit::Literal BitCircuit::conjunction(Literal a, Literal b) {
  check("conjunction", a);
  check("conjunction", b);
  return build(BitNodeKind::conjunction, a, b);
}

BitCircuit::Literal BitCircuit::exclusive_or(Literal a, Literal b) {
  check("exclusive_or", a);
  check("exclusive_or", b);
  return build(BitNodeKind::exclusive_or, a, b);
}

// Equal or complementary branches need at most one gate, which the general case would miss.
BitCircuit::Literal BitCircuit::multiplexer(Literal condition, Literal then, Literal otherwise) {
  for (const Literal literal : {condition, then, otherwise}) check("multiplexer", literal);
  if (then == otherwise) return then;
  if (then == !otherwise) return exclusive_or(condition, otherwise);
  return disjunction(conjunction(condition, then), conjunction(!condition, otherwise));
}

BitCircuit::Literal BitCircuit::build(BitNodeKind kind, Literal a, Literal b) {
  BitGate gate{kind, a, b};
  while (true) {
    if (const std::optional<Literal> literal = folded(gate)) return *literal;
    gate = with_plain_inputs(gate);
    const std::optional<BitGate> simpler = rewrite(nodes_, gate);
    if (!simpler) break;
    gate = *simpler;
  }
  return find_or_add({gate.kind, std::min(gate.a, gate.b), std::max(gate.a, gate.b)}) ^ gate.flip;
}

BitCircuit::Literal BitCircuit::find_or_add(const BitNode& gate) {
  std::uint32_t& slot = known_.slot_of(gate, nodes_);
  if (slot == 0) {
    if (static_cast<std::int64_t>(nodes_.size()) >= max_nodes) {
      fail("BitCircuit", "circuit too large: more than {} nodes", max_nodes);
    }
    slot = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back(gate);
  }
  return Literal(slot);
}

void BitCircuit::reserve(std::size_t gates) {
  nodes_.reserve(nodes_.size() + gates);
  if (std::ssize(nodes_) == inputs_ + 1) known_.reserve(nodes_.size() + gates);
}

void BitCircuit::add_output(Literal literal) {
  check("add_output", literal);
  outputs_.push_back(literal);
}

std::vector<bool> BitCircuit::reachable() const {
  std::vector<bool> reached(nodes_.size(), false);
  for (const Literal output : outputs_) reached[output.node()] = true;
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    if (!reached[i] || !is_gate(nodes_[i])) continue;
    reached[nodes_[i].a.node()] = true;
    reached[nodes_[i].b.node()] = true;
  }
  return reached;
}

std::int64_t BitCircuit::gates() const {
  const std::vector<bool> reached = reachable();
  std::int64_t count = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (reached[i] && is_gate(nodes_[i])) ++count;
  }
  return count;
}

std::vector<std::uint64_t> BitCircuit::evaluate(std::span<const std::uint64_t> inputs) const {
  if (static_cast<std::int64_t>(inputs.size()) != inputs_) {
    fail("BitCircuit", "expected {} input words, received {}", inputs_, inputs.size());
  }
  std::vector<std::uint64_t> values(nodes_.size(), 0);
  std::copy(inputs.begin(), inputs.end(), values.begin() + 1);
  for (std::size_t i = inputs.size() + 1; i < nodes_.size(); ++i) {
    const std::uint64_t a = word_of(values, nodes_[i].a);
    const std::uint64_t b = word_of(values, nodes_[i].b);
    values[i] = nodes_[i].kind == BitNodeKind::conjunction ? a & b : a ^ b;
  }
  std::vector<std::uint64_t> results;
  for (const Literal output : outputs_) results.push_back(word_of(values, output));
  return results;
}

}  // namespace boolgrad::circuit
