#include "boolgrad/model/circuit_inputs.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/messages.h"
#include "tests/support/scratch.h"

namespace boolgrad {
namespace {

using testing_support::ScratchFolder;
using testing_support::write_bytes;

/// y = a ^ b bit by bit, and whether c is 0.
circuit::Netlist netlist() {
  return circuit::checked({.name = "t",
                           .inputs = {"a[0]", "a[1]", "c", "b[1]", "b[0]"},
                           .outputs = {"y[0]", "y[1]", "n"},
                           .gates = {{.truth = 0b0110, .inputs = {0, 4}, .arity = 2},
                                     {.truth = 0b0110, .inputs = {1, 3}, .arity = 2},
                                     {.truth = 0b01, .inputs = {2}, .arity = 1}},
                           .output_nets = {5, 6, 7},
                           .state = std::nullopt});
}

class CircuitInputs : public testing::Test {
 protected:
  UnlabelledSamples read(const std::string& text) const {
    write_bytes(scratch_ / "rows.csv", text);
    return read_circuit_inputs(scratch_ / "rows.csv", netlist());
  }
  static std::vector<std::uint8_t> bits_of(const UnlabelledSamples& rows) {
    const auto bits = rows.features.values<std::uint8_t>();
    return {bits.begin(), bits.end()};
  }

  ScratchFolder scratch_;
};

TEST_F(CircuitInputs, AreNumbersOfPortsOrBits) {
  using Bits = std::vector<std::uint8_t>;
  EXPECT_EQ(bits_of(read("2,1,0b10\n")), (Bits{0, 1, 1, 1, 0}));
  EXPECT_EQ(bits_of(read("1,0,0,1,1\n")), (Bits{1, 0, 0, 1, 1}));
  EXPECT_EQ(bits_of(read("\xEF\xBB\xBF"
                         "c;x;b;a\r\n1;9;1;0x2\r\n")),
            (Bits{0, 1, 1, 0, 1}));
  EXPECT_EQ(bits_of(read("a[1],b,c,a[0]\n1,3,0,0\n")), (Bits{0, 1, 0, 1, 1}));
  const UnlabelledSamples rows = read("\n1,1,1\n\n4,0,0\n1,,1\n0x,0,1\n-1,0,1\n3,0,3\n");
  EXPECT_EQ(rows.what, "line");
  EXPECT_EQ(rows.names, (std::vector<std::string>{"2", "8"}));
  ASSERT_EQ(rows.refused.size(), 4U);
  EXPECT_EQ(rows.refused[0].reason, "expected a number from 0 to 3 in column 'a', received '4'");
  EXPECT_EQ(rows.refused[1].reason, "expected 0 or 1 in column 'c', received ''");
}

TEST_F(CircuitInputs, GiveOutputs) {
  const Tensor outputs = circuit_outputs(netlist(), read("1,0,3\n2,1,3\n").features);
  ASSERT_EQ(outputs.shape(), (Shape{2, 3}));
  const auto bits = outputs.values<std::uint8_t>();
  const auto ports = circuit::port_groups(netlist().outputs);
  ASSERT_EQ(ports.size(), 2U);
  EXPECT_EQ(port_value(ports[0], bits.first(3)), "2");
  EXPECT_EQ(port_value(ports[1], bits.first(3)), "1");
  EXPECT_EQ(port_value(ports[0], bits.last(3)), "1");
  EXPECT_EQ(port_value(ports[1], bits.last(3)), "0");
}

TEST(PortValue, IsDecimalUpTo64BitsAndHexadecimalBeyond) {
  circuit::PortGroup port{"p", true, {}};
  std::vector<std::uint8_t> bits;
  for (std::size_t i = 0; i < 64; ++i) {
    port.positions.push_back(i);
    bits.push_back(1);
  }
  EXPECT_EQ(port_value(port, bits), "18446744073709551615");
  port.positions.push_back(64);
  bits.push_back(1);
  EXPECT_EQ(port_value(port, bits), "0x1ffffffffffffffff");
}

TEST_F(CircuitInputs, NeedAllPorts) {
  expect_error([&] { read("a,b\n1,1\n"); }, "[predict] " + (scratch_ / "rows.csv").string() +
                                                ": expected a column 'c', received a, b");
  expect_error([&] { read("1,1\n"); },
               "[predict] " + (scratch_ / "rows.csv").string() +
                   ": expected 3 columns, one per port, or 5, one per bit, received 2");
}

}  // namespace
}  // namespace boolgrad
