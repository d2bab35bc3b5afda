#include "boolgrad/circuit/passes/observability.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "boolgrad/circuit/convert.h"
#include "tests/support/bit_circuits.h"
#include "tests/support/netlists.h"

namespace boolgrad {
namespace {

TEST(Observability, KeepsTheFunctionAndNeverAddsGates) {
  EXPECT_TRUE(rc::check("on random tables", [](std::uint64_t seed) {
    const BitCircuit circuit = bit_circuit_of(random_netlist(8, 40, 8, 5, seed));
    const BitCircuit result = observed_only(circuit);
    RC_ASSERT(same_function(circuit, result));
    RC_ASSERT(result.gates() <= circuit.gates());
  }));
}

/// x AND g(x, ...): where x is 0 nobody sees what g says.
BitCircuit hidden() {
  BitCircuit circuit(6);
  const BitLiteral x = circuit.input(0);
  const BitLiteral y = circuit.input(1);
  const BitLiteral z = circuit.input(2);
  const BitLiteral parity = circuit.exclusive_or(circuit.exclusive_or(x, y), z);
  circuit.add_output(circuit.conjunction(x, parity));
  return circuit;
}

TEST(Observability, UsesWhatOutputsDoNotTell) {
  EXPECT_EQ(hidden().gates(), 3);
  EXPECT_EQ(observed_only(hidden()).gates(), 2) << "x is 1 where it matters";
  EXPECT_TRUE(same_function(hidden(), observed_only(hidden())));
}

TEST(Observability, LeavesLargeCircuitsAlone) {
  EXPECT_EQ(observed_only(hidden(), {.max_inputs = 5}).gates(), 3);
  EXPECT_EQ(observed_only(hidden(), {.max_gates = 2}).gates(), 3);
}

}  // namespace
}  // namespace boolgrad
