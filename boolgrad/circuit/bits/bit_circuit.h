// Hardened circuits as XOR-AND graphs (XAGs): two-input AND and XOR gates with complemented edges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace boolgrad::circuit {

/// A node of a circuit or its complement. Complements are free: they are edge attributes.
class BitLiteral {
 public:
  constexpr BitLiteral() = default;
  constexpr explicit BitLiteral(std::uint32_t node, bool complemented = false)
      : code_(2 * node + (complemented ? 1U : 0U)) {}
  static constexpr BitLiteral from_code(std::uint32_t code) {
    return BitLiteral(code / 2, (code & 1U) != 0);
  }

  /// The node.
  constexpr std::uint32_t node() const { return code_ / 2; }
  /// Whether the node is complemented.
  constexpr bool complemented() const { return (code_ & 1U) != 0; }
  /// Both in one number: 2 * node + complemented.
  constexpr std::uint32_t code() const { return code_; }

  /// The complement.
  constexpr BitLiteral operator!() const { return BitLiteral(node(), !complemented()); }
  /// The complement if `flip`, else this literal.
  constexpr BitLiteral operator^(bool flip) const { return flip ? !*this : *this; }
  friend constexpr bool operator==(BitLiteral x, BitLiteral y) { return x.code_ == y.code_; }
  friend constexpr bool operator<(BitLiteral x, BitLiteral y) { return x.code_ < y.code_; }

 private:
  std::uint32_t code_ = 0;
};

/// The kinds of nodes.
enum class BitNodeKind : std::uint8_t { constant, input, conjunction, exclusive_or };

/// A node of a circuit. Node 0 is the constant false, then come the inputs, then the gates in
/// topological order.
struct BitNode {
  BitNodeKind kind = BitNodeKind::constant;
  BitLiteral a;  ///< of a gate; less than b. An XOR has no complemented inputs.
  BitLiteral b;
};

/// The hash table of structural hashing: finds a gate by its inputs. Open addressing over node
/// numbers; the circuit owns the nodes.
class BitGateIndex {
 public:
  /// The slot of an equal gate, or the empty slot (node 0) for a new one.
  std::uint32_t& slot_of(const BitNode& gate, std::span<const BitNode> nodes);

  /// Reserves space for so many nodes. Call it before the first gate.
  void reserve(std::size_t nodes);

 private:
  std::uint32_t& probe(const BitNode& gate, std::span<const BitNode> nodes);
  void grow(std::span<const BitNode> nodes);

  std::vector<std::uint32_t> slots_;  ///< a power of two; 0 is empty
};

/// A circuit that is simplified while it is built: constants are propagated, equal gates share a
/// node (structural hashing), and gates that one level of their inputs makes redundant are not
/// created.
class BitCircuit {
 public:
  using Literal = BitLiteral;

  /// A circuit without gates.
  explicit BitCircuit(std::int64_t inputs);

  /// The constant 0 or 1.
  Literal constant(bool value) const { return Literal(0, value); }
  /// The literal of an input.
  Literal input(std::int64_t index) const;

  /// a AND b.
  Literal conjunction(Literal a, Literal b);
  /// a OR b.
  Literal disjunction(Literal a, Literal b) { return !conjunction(!a, !b); }
  /// a XOR b.
  Literal exclusive_or(Literal a, Literal b);
  /// `then` where `condition` is 1, `otherwise` where it is 0.
  Literal multiplexer(Literal condition, Literal then, Literal otherwise);
  /// Any function of up to six inputs. Bit i of `truth` is its value where input j is bit j of i. A
  /// function of two inputs needs at most one node.
  Literal table(std::span<const Literal> inputs, std::uint64_t truth);

  /// Appends an output.
  void add_output(Literal literal);

  /// Reserves space for so many gates. Call it before the first gate.
  void reserve(std::size_t gates);

  /// Number of inputs.
  std::int64_t inputs() const { return inputs_; }
  /// All nodes, reachable or not.
  std::span<const BitNode> nodes() const { return nodes_; }
  /// The outputs, in the order they were added.
  std::span<const Literal> outputs() const { return outputs_; }

  /// For each node, whether an output depends on it.
  std::vector<bool> reachable() const;
  /// The number of reachable gates.
  std::int64_t gates() const;

  /// The outputs for 64 samples at once, one word per input: the reference for faster evaluators.
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

}  // namespace boolgrad::circuit
