// Don't-care optimisation: simplifies gates where no output observes the difference.
#pragma once

#include <cstddef>
#include <cstdint>

#include "boolgrad/circuit/bits/bit_circuit.h"

namespace boolgrad::circuit {

/// Options of `optimise_dont_cares`. Larger circuits are returned unchanged, because the pass
/// simulates the complement of every gate for all input combinations.
struct DontCareParams {
  std::int64_t max_inputs = 12;
  std::int64_t max_gates = 4000;
  std::size_t max_partners = 150;  ///< candidate literals per gate, combined in pairs
};

/// An equivalent circuit with no more gates. A gate matters only for input combinations where it is
/// observable at an output. It is replaced by a function that agrees with it there: a constant,
/// another node, or one gate of two other nodes if that frees at least two gates.
BitCircuit optimise_dont_cares(const BitCircuit& circuit, const DontCareParams& params = {});

}  // namespace boolgrad::circuit
