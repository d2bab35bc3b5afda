#include "boolgrad/circuit/port_order.h"

#include <gtest/gtest.h>

namespace boolgrad::circuit {
namespace {

/// y = a & ~b, z = a.
Netlist netlist() {
  return checked({.name = "t",
                  .inputs = {"a", "b"},
                  .outputs = {"y", "z"},
                  .gates = {{.truth = 0b0010, .inputs = {0, 1}, .arity = 2}},
                  .output_nets = {2, 0},
                  .state = std::nullopt});
}

TEST(PortOrder, IsThatOfTheNames) {
  const auto ordered = with_port_order(netlist(), {"b", "a"}, {"z", "y"});
  ASSERT_TRUE(ordered);
  EXPECT_EQ(ordered->inputs, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(ordered->outputs, (std::vector<std::string>{"z", "y"}));
  EXPECT_EQ(ordered->output_nets, (std::vector<Net>{1, 2}));
  EXPECT_EQ(ordered->gates[0].inputs[0], 1U);
  EXPECT_EQ(ordered->gates[0].inputs[1], 0U);
  EXPECT_EQ(with_port_order(*ordered, {"a", "b"}, {"y", "z"}), netlist());
}

TEST(PortOrder, NeedsTheSameNames) {
  EXPECT_FALSE(with_port_order(netlist(), {"b", "c"}, {"z", "y"}));
  EXPECT_FALSE(with_port_order(netlist(), {"b", "a"}, {"z"}));
  EXPECT_FALSE(with_port_order(netlist(), {"a", "b", "c"}, {"y", "z"}));
}

}  // namespace
}  // namespace boolgrad::circuit
