// One order of truth tables everywhere: entry i is the output where input j is bit j of i. The
// index of a gate is another number, 8 f(0,0) + 4 f(0,1) + 2 f(1,0) + f(1,1).
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "boolgrad/circuit/bits/bit_circuit.h"
#include "boolgrad/circuit/harden.h"
#include "boolgrad/circuit/netlist.h"
#include "boolgrad/logic/gates.h"
#include "boolgrad/logic/lut.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/logic/parametrisation.h"

namespace boolgrad::logic {
namespace {

// Sample i has a = bit 0 of i and b = bit 1 of i, so the outputs of a gate are its table.
constexpr std::array<std::uint64_t, 2> samples = {0b1010, 0b1100};
constexpr std::uint64_t four_samples = 0b1111;

WiringPtr both_inputs() {
  return std::make_shared<const Wiring>(2, Tensor::of<std::int32_t>({0, 1}, {2, 1}));
}

/// Logits of softmax16 that select one gate by its index.
Tensor logits_of(int index) {
  Tensor logits = Tensor::zeros({1, 16}, DType::float64);
  logits.mutable_values<double>()[static_cast<std::size_t>(index)] = 1000;
  return logits;
}

class TableOrder : public testing::TestWithParam<int> {
 protected:
  /// f(a, b) from the index of the gate alone.
  static bool value(int a, int b) { return ((GetParam() >> (3 - 2 * a - b)) & 1) != 0; }

  /// The table as a word: bit i is entry i.
  static std::uint64_t truth() {
    std::uint64_t table = 0;
    for (int i = 0; i < 4; ++i) table |= std::uint64_t{value(i & 1, i >> 1)} << i;
    return table;
  }
};

TEST_P(TableOrder, OfGateEntries) {
  const Gate& gate = gates[static_cast<std::size_t>(GetParam())];
  for (int i = 0; i < 4; ++i) EXPECT_EQ(gate.entry(i), ((truth() >> i) & 1) != 0) << i;
}

TEST_P(TableOrder, OfSoftAndHardTables) {
  const Tensor soft = softmax16(logits_of(GetParam()));
  const Tensor hard = hard_tables(Parametrisation::softmax16, logits_of(GetParam()));
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(soft.at(i), (truth() >> i) & 1) << i;
    EXPECT_EQ(hard.at(i), (truth() >> i) & 1) << i;
  }
}

TEST_P(TableOrder, OfLutLayers) {
  const Tensor tables = softmax16(logits_of(GetParam()));
  const BitMatrix x{2, 4, {samples[0], samples[1]}};
  const Tensor y = lut_layer(unpack_bits(x, DType::float64), tables, both_inputs());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(y.at(i), (truth() >> i) & 1) << i;
  const Tensor hard = hard_tables(Parametrisation::softmax16, logits_of(GetParam()));
  EXPECT_EQ(hard_lut_layer(x, hard, *both_inputs()).words[0], truth());
}

TEST_P(TableOrder, OfNetlists) {
  Network network(2, Parametrisation::softmax16, DType::float64);
  network.add_layer(both_inputs(), logits_of(GetParam()));
  const circuit::Netlist netlist = circuit::harden(network);
  ASSERT_EQ(netlist.gates.size(), 1U);
  EXPECT_EQ(netlist.gates[0].truth, truth());
  EXPECT_EQ(evaluate(netlist, samples)[0] & four_samples, truth());
}

TEST_P(TableOrder, OfBitCircuits) {
  circuit::BitCircuit circuit(2);
  const std::array inputs = {circuit.input(0), circuit.input(1)};
  circuit.add_output(circuit.table(inputs, truth()));
  EXPECT_EQ(circuit.evaluate(samples)[0] & four_samples, truth());
}

INSTANTIATE_TEST_SUITE_P(Gates, TableOrder, testing::Range(0, 16));

TEST(TableOrder, DiffersFromTheGateIndex) {
  // AND is gate 1 and only its entry 3 is set; NOR is gate 8 and only its entry 0 is set.
  EXPECT_TRUE(gates[1].entry(3));
  EXPECT_TRUE(gates[8].entry(0));
  // Entry 1 is a = 1, b = 0: A AND NOT B.
  EXPECT_EQ(gates[2].name, "A AND NOT B");
  EXPECT_TRUE(gates[2].entry(1));
}

}  // namespace
}  // namespace boolgrad::logic
