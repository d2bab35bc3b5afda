#include "boolgrad/logic/bit_circuit.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "boolgrad/core/error.h"
#include "boolgrad/logic/bit_rewriting.h"

namespace boolgrad {
namespace {

// A literal is 32 bits, one of them the complement.
constexpr std::int64_t most_nodes = std::numeric_limits<std::int32_t>::max();

bool is_gate(const BitNode& node) {
  return node.kind == BitNodeKind::conjunction || node.kind == BitNodeKind::exclusive_or;
}

// An XOR reads plain literals: its complements move to the output.
BitGate with_plain_inputs(BitGate gate) {
  if (gate.kind != BitNodeKind::exclusive_or) return gate;
  gate.flip = gate.flip != (gate.a.complemented() != gate.b.complemented());
  gate.a = BitLiteral(gate.a.node());
  gate.b = BitLiteral(gate.b.node());
  return gate;
}

// The inputs of a gate are in order, so the other order is free to tell XOR from AND.
std::uint64_t key_of(const BitNode& gate) {
  const std::uint64_t a = gate.a.code();
  const std::uint64_t b = gate.b.code();
  return gate.kind == BitNodeKind::conjunction ? (a << 32) | b : (b << 32) | a;
}

std::uint64_t word_of(std::span<const std::uint64_t> values, BitLiteral literal) {
  return values[literal.node()] ^ (literal.complemented() ? ~std::uint64_t{0} : 0);
}

}  // namespace

BitCircuit::BitCircuit(std::int64_t inputs) : inputs_(inputs) {
  if (inputs < 0 || inputs >= most_nodes) {
    fail("BitCircuit", "expected between 0 and {} inputs, received {}", most_nodes - 1, inputs);
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

// Equal or complementary choices need one gate at most, which two conjunctions would not find.
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
    const std::optional<BitGate> simpler = rewritten(nodes_, gate);
    if (!simpler) break;
    gate = *simpler;
  }
  return find_or_add({gate.kind, std::min(gate.a, gate.b), std::max(gate.a, gate.b)}) ^ gate.flip;
}

BitCircuit::Literal BitCircuit::find_or_add(const BitNode& gate) {
  const auto [entry, added] =
      known_.try_emplace(key_of(gate), static_cast<std::uint32_t>(nodes_.size()));
  if (added) {
    if (static_cast<std::int64_t>(nodes_.size()) >= most_nodes) {
      fail("BitCircuit", "expected at most {} nodes, received one more", most_nodes);
    }
    nodes_.push_back(gate);
  }
  return Literal(entry->second);
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

}  // namespace boolgrad
