// The gates of a circuit as steps in an order that suits the kernels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/backend/plan/bit_code.h"
#include "boolgrad/circuit/bits/bit_circuit.h"

namespace boolgrad {

/// One gate, or two of which nobody else reads the first. Operands are nodes.
struct BitOperation {
  BitInner inner = BitInner::conjunction;
  BitOuter outer = BitOuter::same;
  std::uint32_t out = 0;
  std::size_t operands = 2;
  std::array<std::uint32_t, 3> from{};

  std::span<const std::uint32_t> sources() const { return std::span(from).first(operands); }
};

/// All gates that the outputs need, each after what it reads, those of one kind together as far as
/// that goes.
std::vector<BitOperation> scheduled(const BitCircuit& circuit);

}  // namespace boolgrad
