// Hardened circuits: AND and XOR of two inputs, complements on the edges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace boolgrad {

/// A node of a circuit or its complement. Complements cost nothing: they belong to the reader.
class BitLiteral {
 public:
  constexpr BitLiteral() = default;
  constexpr explicit BitLiteral(std::uint32_t node, bool complemented = false)
      : code_(2 * node + (complemented ? 1U : 0U)) {}
  static constexpr BitLiteral from_code(std::uint32_t code) {
    return BitLiteral(code / 2, (code & 1U) != 0);
  }

  constexpr std::uint32_t node() const { return code_ / 2; }
  constexpr bool complemented() const { return (code_ & 1U) != 0; }
  /// The two in one number: 2 * node + complemented.
  constexpr std::uint32_t code() const { return code_; }

  constexpr BitLiteral operator!() const { return BitLiteral(node(), !complemented()); }
  /// This literal, complemented where `flip` says so.
  constexpr BitLiteral operator^(bool flip) const { return flip ? !*this : *this; }
  friend constexpr bool operator==(BitLiteral x, BitLiteral y) { return x.code_ == y.code_; }
  friend constexpr bool operator<(BitLiteral x, BitLiteral y) { return x.code_ < y.code_; }

 private:
  std::uint32_t code_ = 0;
};

enum class BitNodeKind : std::uint8_t { constant, input, conjunction, exclusive_or };

/// Node 0 is the constant false; the inputs follow in order; a gate comes after what it reads.
struct BitNode {
  BitNodeKind kind = BitNodeKind::constant;
  BitLiteral a;  ///< of a gate; below b. An XOR reads no complements.
  BitLiteral b;
};

/// Finds gates by what they read: an open table of the numbers of nodes, which the circuit has.
class BitGateIndex {
 public:
  /// The place of an equal gate, or the empty place (node 0) where a new one's number belongs.
  std::uint32_t& place_of(const BitNode& gate, std::span<const BitNode> nodes);

  /// Room for so many nodes, before there are any gates.
  void reserve(std::size_t nodes);

 private:
  std::uint32_t& probe(const BitNode& gate, std::span<const BitNode> nodes);
  void grow(std::span<const BitNode> nodes);

  std::vector<std::uint32_t> places_;  ///< a power of two of them, 0 where empty
};

/// A circuit that simplifies itself while it is built: constants are folded, equal gates are one
/// node, and a gate that one level of its inputs makes redundant is never made.
class BitCircuit {
 public:
  using Literal = BitLiteral;

  explicit BitCircuit(std::int64_t inputs);

  Literal constant(bool value) const { return Literal(0, value); }
  Literal input(std::int64_t index) const;

  Literal conjunction(Literal a, Literal b);
  Literal disjunction(Literal a, Literal b) { return !conjunction(!a, !b); }
  Literal exclusive_or(Literal a, Literal b);
  /// `then` where `condition` is 1, `otherwise` where it is 0.
  Literal multiplexer(Literal condition, Literal then, Literal otherwise);
  /// Any function of up to 6 inputs: bit i of `truth` is its value where input j is bit j of i. A
  /// function of two inputs becomes at most one node.
  Literal table(std::span<const Literal> inputs, std::uint64_t truth);

  void add_output(Literal literal);

  /// Room for so many gates more, to build a large circuit faster; before the first gate.
  void reserve(std::size_t gates);

  std::int64_t inputs() const { return inputs_; }
  std::span<const BitNode> nodes() const { return nodes_; }
  std::span<const Literal> outputs() const { return outputs_; }

  /// Which nodes the outputs depend on.
  std::vector<bool> reachable() const;
  /// How many of those are gates.
  std::int64_t gates() const;

  /// The outputs for 64 samples at once, a word an input: the reference for faster ways.
  std::vector<std::uint64_t> evaluate(std::span<const std::uint64_t> inputs) const;

 private:
  void check(const char* where, Literal literal) const;
  Literal build(BitNodeKind kind, Literal a, Literal b);
  Literal find_or_add(const BitNode& gate);

  std::int64_t inputs_;
  std::vector<BitNode> nodes_;
  std::vector<Literal> outputs_;
  BitGateIndex known_;
};

}  // namespace boolgrad
