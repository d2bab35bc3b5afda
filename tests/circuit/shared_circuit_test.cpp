#include "boolgrad/circuit/shared_circuit.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

#include "boolgrad/circuit/harden.h"
#include "boolgrad/circuit/proof/equivalence.h"
#include "tests/support/convolution_networks.h"
#include "tests/support/random_words.h"

namespace boolgrad::circuit {
namespace {

TEST(SharedCircuit, EqualsTheHardenedNetwork) {
  int found = 0;
  EXPECT_TRUE(rc::check("any convolutions, with and without masks", [&](std::uint64_t seed) {
    const logic::Network network = random_convolution_network(seed);
    const std::optional<SharedCircuit> shared = shared_circuit_of(network);
    // Convolutions at a single position share nothing.
    RC_ASSERT(shared.has_value() == (network.layers()[0].wiring->positions() > 1));
    if (!shared) return;
    ++found;
    const Netlist original = harden(network);
    const auto words = random_words(original.inputs.size(), seed);
    for (const SharedCircuit& circuit : {*shared, simplified(*shared)}) {
      const Netlist flat = flattened(circuit);
      RC_ASSERT(flat.inputs == original.inputs);
      RC_ASSERT(flat.outputs == original.outputs);
      RC_ASSERT(evaluate(flat, words) == evaluate(original, words));
      RC_ASSERT(!difference(original, flat).has_value());
    }
  }));
  EXPECT_GT(found, 80);
}

TEST(SharedCircuit, KeepsTheStructureOfConvolutions) {
  logic::Network network(2 * 8 * 9, Parametrisation::sigmoid);
  const logic::ImageSize image = add_convolution(
      network, {2, 8, 9}, {.kernels = 4, .window = 3, .padding = 1, .depth = 2, .pool = 2}, 1);
  add_convolution(network, image, {.kernels = 6, .window = 2, .depth = 1, .arity = 3, .pool = 3},
                  1);
  network.add_layer({.gates = 10});
  const SharedCircuit circuit = shared_circuit_of(network).value();
  EXPECT_EQ(circuit.kernel_counts(), (std::vector<std::int64_t>{4, 6}));
  ASSERT_EQ(circuit.stages.size(), 5U);  // pooling over squares of three is two stages
  const SharedStage& first = circuit.stages[0];
  EXPECT_EQ(first.rows, 8);
  EXPECT_EQ(first.columns, 9);
  EXPECT_EQ(first.row_step, 9);
  EXPECT_EQ(first.column_step, 1);
  for (const SharedKernel& kernel : first.kernels) {
    EXPECT_EQ(kernel.leaves.size(), 4U);
    EXPECT_EQ(kernel.function.gates.size(), 3U);
  }
  EXPECT_TRUE(circuit.stages[1].pools());
  EXPECT_EQ(circuit.stages[1].pooled.size(), 4U);
  EXPECT_EQ(circuit.stages[1].row_step, 18);
  EXPECT_EQ(circuit.stages[1].column_step, 2);
  EXPECT_EQ(circuit.stages[2].kernels[5].leaves.size(), 3U);
  EXPECT_EQ(circuit.rest.gates.size(), 10U);
  EXPECT_EQ(circuit.written_gates(), 4 * 3 + 6 * 1 + 10);
}

TEST(SharedCircuit, SimplificationRemovesLeavesThatAKernelIgnores) {
  logic::Network network(36, Parametrisation::sigmoid);
  add_convolution(network, {1, 6, 6}, {.kernels = 8, .depth = 3, .pool = 1}, 4);
  network.set_mask(2, logic::block_knockout(8, 3, 1, network.dtype()));
  const SharedCircuit circuit = simplified(shared_circuit_of(network).value());
  EXPECT_EQ(circuit.stages[0].kernels[3].leaves.size(), 1U);  // a constant keeps one
  std::size_t leaves = 0;
  for (const SharedKernel& kernel : circuit.stages[0].kernels) {
    EXPECT_EQ(kernel.leaves.size(), kernel.function.inputs.size());
    leaves += kernel.leaves.size();
  }
  EXPECT_LT(leaves, 8U * 8U);
}

TEST(SharedCircuit, TheProofDetectsABrokenKernel) {
  logic::Network network(2 * 36, Parametrisation::sigmoid);
  add_convolution(network, {2, 6, 6}, {.kernels = 3, .padding = 1, .depth = 2, .pool = 2}, 3);
  const Netlist original = harden(network);
  const SharedCircuit circuit = simplified(shared_circuit_of(network).value());
  EXPECT_FALSE(difference(original, flattened(circuit)).has_value());
  SharedCircuit broken = circuit;
  Netlist& function = broken.stages[0].kernels[1].function;
  function.gates[function.output_nets[0] - function.inputs.size()].truth ^= 1;
  EXPECT_TRUE(difference(original, flattened(broken)).has_value());
  broken = circuit;
  ++broken.stages[0].kernels[0].leaves[0].rows.begin;
  EXPECT_TRUE(difference(original, flattened(broken)).has_value());
  broken = circuit;
  broken.stages[1].pooled.pop_back();
  EXPECT_TRUE(difference(original, flattened(broken)).has_value());
}

TEST(SharedCircuit, IsProvenWithFewQuestionsToTheSolver) {
  logic::Network network(16 * 16, Parametrisation::sigmoid);
  const logic::ImageSize image =
      add_convolution(network, {1, 16, 16}, {.kernels = 8, .window = 5, .depth = 3, .pool = 2}, 1);
  add_convolution(network, image, {.kernels = 16, .padding = 1, .depth = 3, .pool = 2}, 1);
  const Netlist original = harden(network);
  EquivalenceStats stats;
  EXPECT_FALSE(
      difference(original, flattened(simplified(shared_circuit_of(network).value())), {}, &stats)
          .has_value());
  EXPECT_FALSE(stats.exhaustive);
  EXPECT_LT(stats.solver_calls, 800);  // 1,233 without the inputs that showed differences
}

TEST(SharedCircuit, NeedsConvolutions) {
  logic::Network network(8, Parametrisation::sigmoid);
  network.add_layer({.gates = 4});
  EXPECT_FALSE(shared_circuit_of(network).has_value());
  EXPECT_FALSE(shared_circuit_of(logic::Network(8)).has_value());
}

}  // namespace
}  // namespace boolgrad::circuit
