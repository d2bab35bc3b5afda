// One-level rewriting rules for AND and XOR gates.
#pragma once

#include <optional>
#include <span>

#include "boolgrad/circuit/bits/bit_circuit.h"

namespace boolgrad::circuit {

/// A gate that is not yet a node. `flip` complements its output.
struct BitGate {
  BitNodeKind kind = BitNodeKind::conjunction;
  BitLiteral a;
  BitLiteral b;
  bool flip = false;
};

/// The literal that a gate equals if an input is constant or its inputs are equal or complementary.
std::optional<BitLiteral> folded(const BitGate& gate);

/// An equivalent gate (a literal x as x AND true), or nothing if no rule applies. Repeated
/// rewriting terminates, because each rule replaces a newer node by an older one. `gate` must be
/// folded, and the inputs of an XOR uncomplemented.
std::optional<BitGate> rewrite(std::span<const BitNode> nodes, const BitGate& gate);

}  // namespace boolgrad::circuit
