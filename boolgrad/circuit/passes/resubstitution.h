// Resubstitution: replaces gates by functions of other nodes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "boolgrad/circuit/bits/bit_circuit.h"

namespace boolgrad::circuit {

/// Options of `resubstitute`. Larger circuits are returned unchanged, because the pass simulates
/// all input combinations and compares every gate with all others.
struct ResubstitutionParams {
  std::int64_t max_inputs = 13;
  std::int64_t max_gates = 20000;
  std::size_t max_partners = 150;  ///< candidate literals per gate, combined in pairs
};

/// An equivalent circuit with no more gates. A node is replaced by another node with the same
/// function, or by one gate of two other nodes if that frees at least two gates. Simulation is
/// exhaustive, so no proof is needed.
BitCircuit resubstitute(const BitCircuit& circuit, const ResubstitutionParams& params = {});

}  // namespace boolgrad::circuit
