#include "boolgrad/circuit/bits/bit_rewriting.h"

#include <algorithm>

namespace boolgrad::circuit {
namespace {

constexpr BitLiteral no = BitLiteral(0, false);
constexpr BitLiteral yes = BitLiteral(0, true);

using Result = std::optional<BitGate>;

BitGate just(BitLiteral x) { return {BitNodeKind::conjunction, x, yes}; }
BitGate both(BitLiteral a, BitLiteral b) { return {BitNodeKind::conjunction, a, b}; }
BitGate differ(BitLiteral a, BitLiteral b) { return {BitNodeKind::exclusive_or, a, b}; }
BitGate complement_of(BitGate gate) {
  gate.flip = !gate.flip;
  return gate;
}

bool is_and(const BitNode& node) { return node.kind == BitNodeKind::conjunction; }
bool is_xor(const BitNode& node) { return node.kind == BitNodeKind::exclusive_or; }

/// Calls rule(one, other) for both orders of the inputs of `node`, until one gives a result.
template <class Rule>
Result either_way(const BitNode& node, Rule rule) {
  if (Result result = rule(node.a, node.b)) return result;
  return rule(node.b, node.a);
}

// ------------------------------------------------------------------ x AND y

// x is also an input of y. (The inputs of a node that is not a gate are node 0, which x is not.)
Result and_of_own_input(BitLiteral x, BitLiteral y, const BitNode& node) {
  return either_way(node, [&](BitLiteral own, BitLiteral other) -> Result {
    if (own.node() != x.node()) return {};
    if (is_xor(node)) return both(x, other ^ (x.complemented() == y.complemented()));
    const bool agrees = own == x;
    if (!y.complemented()) return just(agrees ? y : no);
    return agrees ? both(x, !other) : just(x);
  });
}

// Two conjunctions, A = x and B = y or their complements, that share an input.
Result and_of_ands(BitLiteral x, const BitNode& a, BitLiteral y, const BitNode& b) {
  return either_way(a, [&](BitLiteral p, BitLiteral q) {
    return either_way(b, [&](BitLiteral r, BitLiteral s) -> Result {
      if (p.node() != r.node()) return {};
      if (x.complemented() && y.complemented()) {
        if (p == r && q == !s) return just(!p);       // NOT pq, NOT p(NOT q)
        if (p == !r && q == !s) return differ(p, q);  // not both, not neither
        return {};
      }
      if (p == !r)
        return just(!x.complemented() && !y.complemented() ? no : x.complemented() ? y : x);
      if (!x.complemented() && y.complemented()) return both(x, !s);
      if (x.complemented() && !y.complemented()) return both(y, !q);
      return {};
    });
  });
}

/// A conjunction and an XOR of the same two nodes.
bool same_pair(const BitNode& conjunction, const BitNode& exclusive) {
  return conjunction.a.node() == exclusive.a.node() && conjunction.b.node() == exclusive.b.node();
}

/// The value of the XOR of the two nodes where the conjunction is 1.
bool implied_xor(const BitNode& conjunction) {
  return conjunction.a.complemented() != conjunction.b.complemented();
}

// x is A or its complement, y is X or its complement.
Result and_of_and_with_xor(BitLiteral x, const BitNode& a, BitLiteral y, const BitNode& exclusive) {
  if (!same_pair(a, exclusive)) return {};
  const bool implied = implied_xor(a) != y.complemented();
  if (!x.complemented()) return just(implied ? x : no);
  return implied ? both(!a.a, !a.b) : just(y);
}

Result rewritten_and(std::span<const BitNode> nodes, BitLiteral x, BitLiteral y) {
  const BitNode& a = nodes[x.node()];
  const BitNode& b = nodes[y.node()];
  if (Result result = and_of_own_input(x, y, b)) return result;
  if (Result result = and_of_own_input(y, x, a)) return result;
  if (is_and(a) && is_and(b)) return and_of_ands(x, a, y, b);
  if (is_and(a) && is_xor(b)) return and_of_and_with_xor(x, a, y, b);
  if (is_xor(a) && is_and(b)) return and_of_and_with_xor(y, b, x, a);
  return {};
}

// ------------------------------------------------------------------ x XOR y, both uncomplemented

Result xor_of_own_input(BitLiteral x, const BitNode& node) {
  return either_way(node, [&](BitLiteral own, BitLiteral other) -> Result {
    if (own.node() != x.node()) return {};
    if (is_xor(node)) return just(other);
    return own == x ? both(x, !other) : complement_of(both(!x, !other));
  });
}

Result xor_of_ands(const BitNode& a, const BitNode& b) {
  return either_way(a, [&](BitLiteral p, BitLiteral q) {
    return either_way(b, [&](BitLiteral r, BitLiteral s) -> Result {
      if (p == r && q == !s) return just(p);
      if (p == !r && q == !s) return complement_of(differ(p, q));
      return {};
    });
  });
}

Result xor_of_xors(const BitNode& a, const BitNode& b) {
  return either_way(a, [&](BitLiteral p, BitLiteral q) {
    return either_way(b, [&](BitLiteral r, BitLiteral s) -> Result {
      if (p == r) return differ(q, s);
      return {};
    });
  });
}

Result xor_of_and_with_xor(const BitNode& a, const BitNode& exclusive) {
  if (!same_pair(a, exclusive)) return {};
  const BitGate neither = both(!a.a, !a.b);
  return implied_xor(a) ? neither : complement_of(neither);
}

Result rewritten_xor(std::span<const BitNode> nodes, BitLiteral x, BitLiteral y) {
  const BitNode& a = nodes[x.node()];
  const BitNode& b = nodes[y.node()];
  if (Result result = xor_of_own_input(x, b)) return result;
  if (Result result = xor_of_own_input(y, a)) return result;
  if (is_and(a) && is_and(b)) return xor_of_ands(a, b);
  if (is_xor(a) && is_xor(b)) return xor_of_xors(a, b);
  if (is_and(a) && is_xor(b)) return xor_of_and_with_xor(a, b);
  if (is_xor(a) && is_and(b)) return xor_of_and_with_xor(b, a);
  return {};
}

}  // namespace

std::optional<BitLiteral> folded(const BitGate& gate) {
  const auto [a, b] = std::minmax(gate.a, gate.b);
  const bool exclusive = gate.kind == BitNodeKind::exclusive_or;
  if (a == no) return (exclusive ? b : no) ^ gate.flip;
  if (a == yes) return b ^ (gate.flip != exclusive);
  if (a == b) return (exclusive ? no : a) ^ gate.flip;
  if (a == !b) return no ^ (gate.flip != exclusive);
  return {};
}

std::optional<BitGate> rewrite(std::span<const BitNode> nodes, const BitGate& gate) {
  Result result = gate.kind == BitNodeKind::conjunction ? rewritten_and(nodes, gate.a, gate.b)
                                                        : rewritten_xor(nodes, gate.a, gate.b);
  if (result) result->flip = result->flip != gate.flip;
  return result;
}

}  // namespace boolgrad::circuit
