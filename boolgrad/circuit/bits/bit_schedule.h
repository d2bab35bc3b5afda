// Schedules the gates of a circuit as steps for the kernels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/backend/plan/bit_program_view.h"
#include "boolgrad/circuit/bits/bit_circuit.h"

namespace boolgrad::circuit {

/// One gate, or two gates of which the first has no other reader. Operands are nodes.
struct BitOperation {
  BitInner inner = BitInner::conjunction;
  BitOuter outer = BitOuter::same;
  std::uint32_t out = 0;
  std::size_t operands = 2;
  std::array<std::uint32_t, 3> from{};

  std::span<const std::uint32_t> sources() const { return std::span(from).first(operands); }
};

/// All reachable gates in topological order, grouped by kind as far as dependencies allow.
std::vector<BitOperation> scheduled(const BitCircuit& circuit);

}  // namespace boolgrad::circuit
