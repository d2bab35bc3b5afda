// Whether two netlists compute the same, proven.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad {

struct EquivalenceParams {
  /// Up to so many inputs every case is tried; beyond, a SAT solver decides.
  std::size_t most_exhaustive_inputs = 24;
  /// What the solver may spend on finding that two inner nets are one: conflicts. The outputs
  /// themselves are decided whatever it takes.
  int most_conflicts = 200;
};

/// An input on which two netlists differ.
struct Counterexample {
  std::vector<bool> inputs;
  std::size_t output = 0;  ///< the first output that differs
};

struct EquivalenceStats {
  bool exhaustive = false;  ///< all cases were tried; else by SAT
  std::int64_t solver_calls = 0;
  std::int64_t merged = 0;  ///< nets proven equal to others on the way
};

/// Nothing where the two are proven to be the same function, inputs and outputs taken in order,
/// else where they differ. Names do not matter. Throws where they differ in how many inputs or
/// outputs they have.
std::optional<Counterexample> difference(const Netlist& a, const Netlist& b,
                                         const EquivalenceParams& params = {},
                                         EquivalenceStats* stats = nullptr);

/// Throws with the counterexample where the two are not the same function: for writers that prove
/// what they write. `what` names the one that should equal the other.
void expect_equivalent(const Netlist& original, const Netlist& other, std::string_view what,
                       const EquivalenceParams& params = {});

}  // namespace boolgrad
