#include "boolgrad/circuit/passes/resubstitution.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "boolgrad/circuit/convert.h"
#include "tests/support/bit_circuits.h"
#include "tests/support/netlists.h"

namespace boolgrad {
namespace {

TEST(Resubstitution, KeepsTheFunctionAndNeverAddsGates) {
  EXPECT_TRUE(rc::check("on random tables", [](std::uint64_t seed) {
    const BitCircuit circuit = bit_circuit_of(random_netlist(8, 40, 8, 5, seed));
    const BitCircuit result = resubstituted(circuit);
    RC_ASSERT(same_function(circuit, result));
    RC_ASSERT(result.gates() <= circuit.gates());
  }));
}

/// The XOR of three inputs in both orders, each complicated in its own way.
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

TEST(Resubstitution, FindsWhatIsThereInAnotherForm) {
  EXPECT_EQ(resubstituted(two_parities()).gates(), 2);
  EXPECT_TRUE(same_function(two_parities(), resubstituted(two_parities())));
}

TEST(Resubstitution, LeavesLargeCircuitsAlone) {
  const std::int64_t before = two_parities().gates();
  EXPECT_EQ(resubstituted(two_parities(), {.max_inputs = 5}).gates(), before);
  EXPECT_EQ(resubstituted(two_parities(), {.max_gates = 3}).gates(), before);
}

}  // namespace
}  // namespace boolgrad
