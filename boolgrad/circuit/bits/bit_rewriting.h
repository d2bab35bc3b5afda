// Gates that one level of their inputs makes simpler.
#pragma once

#include <optional>
#include <span>

#include "boolgrad/circuit/bits/bit_circuit.h"

namespace boolgrad {

/// A gate that is not yet a node, complemented where `flip` says so.
struct BitGate {
  BitNodeKind kind = BitNodeKind::conjunction;
  BitLiteral a;
  BitLiteral b;
  bool flip = false;
};

/// What a gate equals when constants, equal and complementary inputs are folded.
std::optional<BitLiteral> folded(const BitGate& gate);

/// An equal gate (a literal x as x AND true), or nothing. Repeating it ends, because each time an
/// older node takes the place of a newer one. `gate` must be folded and an XOR's inputs plain.
std::optional<BitGate> rewritten(std::span<const BitNode> nodes, const BitGate& gate);

}  // namespace boolgrad
