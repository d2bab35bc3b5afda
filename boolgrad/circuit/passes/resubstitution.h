// Gates replaced by what is there already.
#pragma once

#include <cstddef>
#include <cstdint>

#include "boolgrad/circuit/bits/bit_circuit.h"

namespace boolgrad {

struct ResubstitutionParams {
  /// Circuits of more inputs are left as they are: the value of every node in every case is looked
  /// at.
  std::int64_t max_inputs = 13;
  /// So are larger ones: for each gate all others are looked at.
  std::int64_t max_gates = 20000;
  std::size_t max_partners = 150;  ///< tried in pairs
};

/// The same function in no more gates. A node is replaced by one that has the same values, or by
/// one gate of two others where it alone keeps two or more alive. All cases are looked at, so what
/// looks equal is.
BitCircuit resubstituted(const BitCircuit& circuit, const ResubstitutionParams& params = {});

}  // namespace boolgrad
