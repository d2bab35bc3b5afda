#include "boolgrad/circuit/passes/dont_cares.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "boolgrad/circuit/convert.h"
#include "tests/support/bit_circuits.h"
#include "tests/support/netlists.h"

namespace boolgrad::circuit {
namespace {

TEST(DontCares, PreservesTheFunctionAndNeverAddsGates) {
  EXPECT_TRUE(rc::check("on random tables", [](std::uint64_t seed) {
    const BitCircuit circuit = to_bit_circuit(random_netlist(8, 40, 8, 5, seed));
    const BitCircuit result = optimise_dont_cares(circuit);
    RC_ASSERT(same_function(circuit, result));
    RC_ASSERT(result.gates() <= circuit.gates());
  }));
}

/// x AND g(x, ...): g is not observable where x is 0.
BitCircuit hidden() {
  BitCircuit circuit(6);
  const BitLiteral x = circuit.input(0);
  const BitLiteral y = circuit.input(1);
  const BitLiteral z = circuit.input(2);
  const BitLiteral parity = circuit.exclusive_or(circuit.exclusive_or(x, y), z);
  circuit.add_output(circuit.conjunction(x, parity));
  return circuit;
}

TEST(DontCares, UsesUnobservableCombinations) {
  EXPECT_EQ(hidden().gates(), 3);
  EXPECT_EQ(optimise_dont_cares(hidden()).gates(), 2) << "g is observable only where x is 1";
  EXPECT_TRUE(same_function(hidden(), optimise_dont_cares(hidden())));
}

TEST(DontCares, SkipsLargeCircuits) {
  EXPECT_EQ(optimise_dont_cares(hidden(), {.max_inputs = 5}).gates(), 3);
  EXPECT_EQ(optimise_dont_cares(hidden(), {.max_gates = 2}).gates(), 3);
}

}  // namespace
}  // namespace boolgrad::circuit
