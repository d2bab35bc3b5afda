#include "boolgrad/circuit/convert.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <fmt/format.h>

#include "boolgrad/circuit/passes/passes.h"
#include "tests/support/bit_circuits.h"
#include "tests/support/netlists.h"

namespace boolgrad::circuit {
namespace {

Netlist names_for(const BitCircuit& circuit) {
  Netlist like;
  for (std::int64_t i = 0; i < circuit.inputs(); ++i) like.inputs.push_back(fmt::format("x{}", i));
  for (std::size_t o = 0; o < circuit.outputs().size(); ++o) {
    like.outputs.push_back(fmt::format("y{}", o));
  }
  return like;
}

TEST(Convert, PredictsTheSizeOfTheNetlist) {
  EXPECT_TRUE(rc::check("gates, inverters and depth", [](std::uint64_t seed) {
    // Few gates and many outputs: complements of inputs, both polarities of a gate, constants.
    const auto inputs = static_cast<std::int64_t>(1 + seed % 6);
    const auto gates = static_cast<std::int64_t>(seed / 6 % 30);
    const BitCircuit circuit = random_circuit(inputs, gates, 12, seed);
    const Netlist netlist = to_netlist(circuit, names_for(circuit));
    RC_ASSERT(netlist_gate_count(circuit) == gate_count(netlist));
    RC_ASSERT(netlist_depth(circuit) == depth(netlist));
  }));
}

TEST(Convert, RoundTripsPreserveTheFunction) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const BitCircuit circuit = random_circuit(7, 40, 5, seed);
    const BitCircuit back = to_bit_circuit(to_netlist(circuit, names_for(circuit)));
    RC_ASSERT(same_function(circuit, back));
    RC_ASSERT(back.gates() == circuit.gates());
  }));
}

}  // namespace
}  // namespace boolgrad::circuit
