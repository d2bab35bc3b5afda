// Arithmetic resynthesis: builds sums, products and counts from adders.
#pragma once

#include <cstddef>
#include <cstdint>

#include "boolgrad/circuit/bits/bit_circuit.h"

namespace boolgrad::circuit {

/// Options of `resynthesise_arithmetic`.
struct ArithmeticParams {
  /// The largest number of inputs. All input combinations are simulated.
  std::int64_t max_inputs = 14;
  std::size_t max_outputs = 32;
  std::int64_t max_gates = 20000;  ///< of the circuit that is simulated
  /// The largest number of terms of the polynomial.
  std::size_t max_terms = 128;
};

/// Reads the outputs as the digits of a number, the first or the last output being the lowest, and
/// writes this number as a polynomial of the inputs with integer coefficients (the arithmetic
/// transform, on which binary moment diagrams are based). A product a b of numbers has one term per
/// pair of bits, a sum one per bit; of a single output it is the Reed-Muller form, which for a
/// parity has one term per bit. If the polynomial is sparse, its terms are added by full and half
/// adders. Returns the circuit unchanged if the result would not have fewer gates.
BitCircuit resynthesise_arithmetic(const BitCircuit& circuit, const ArithmeticParams& params = {});

}  // namespace boolgrad::circuit
