#include "boolgrad/circuit/passes/resubstitution.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "boolgrad/circuit/convert.h"
#include "tests/support/bit_circuits.h"
#include "tests/support/netlists.h"

namespace boolgrad::circuit {
namespace {

TEST(Resubstitution, PreservesTheFunctionAndNeverAddsGates) {
  EXPECT_TRUE(rc::check("on random tables", [](std::uint64_t seed) {
    const BitCircuit circuit = to_bit_circuit(random_netlist(8, 40, 8, 5, seed));
    const BitCircuit result = resubstitute(circuit);
    RC_ASSERT(same_function(circuit, result));
    RC_ASSERT(result.gates() <= circuit.gates());
  }));
}

/// The XOR of three inputs twice, with different structures.
BitCircuit two_parities() {
  BitCircuit circuit(6);
  const BitLiteral a = circuit.input(0);
  const BitLiteral b = circuit.input(1);
  const BitLiteral c = circuit.input(2);
  circuit.add_output(circuit.exclusive_or(circuit.exclusive_or(a, b), c));
  const BitLiteral inner =
      circuit.disjunction(circuit.conjunction(b, !c), circuit.conjunction(!b, c));
  circuit.add_output(
      circuit.disjunction(circuit.conjunction(a, !inner), circuit.conjunction(!a, inner)));
  return circuit;
}

TEST(Resubstitution, FindsEqualFunctionsOfDifferentStructure) {
  EXPECT_EQ(resubstitute(two_parities()).gates(), 2);
  EXPECT_TRUE(same_function(two_parities(), resubstitute(two_parities())));
}

TEST(Resubstitution, SkipsLargeCircuits) {
  const std::int64_t before = two_parities().gates();
  EXPECT_EQ(resubstitute(two_parities(), {.max_inputs = 5}).gates(), before);
  EXPECT_EQ(resubstitute(two_parities(), {.max_gates = 3}).gates(), before);
}

}  // namespace
}  // namespace boolgrad::circuit
