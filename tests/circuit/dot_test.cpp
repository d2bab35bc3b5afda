#include "boolgrad/circuit/formats/dot.h"

#include <gtest/gtest.h>

#include "tests/support/exported_netlists.h"
#include "tests/support/scratch.h"
#include "tests/support/tools.h"

namespace boolgrad::circuit {
namespace {

TEST(DotTest, DrawsInputsGatesAndOutputs) {
  Netlist netlist;
  netlist.name = "t";
  netlist.inputs = {"a[0]", "b\"\\", "a[1]"};
  netlist.outputs = {"y", "z"};
  netlist.gates = {{.truth = 0b0010, .inputs = {0, 1}, .arity = 2},
                   {.truth = 1, .inputs = {3}, .arity = 1},
                   {.truth = 1},
                   {.truth = 0b1000, .inputs = {2, 3}, .arity = 2}};
  netlist.output_nets = {4, 5};
  const std::string text = to_dot(checked(netlist));
  EXPECT_EQ(text.substr(text.find("  subgraph")),
            "  subgraph cluster_x0 {\n  label=\"a[1:0]\"; style=rounded; color=gray;\n"
            "  x0 [shape=plaintext, label=\"a[0]\"];\n"
            "  x2 [shape=plaintext, label=\"a[1]\"];\n  }\n"
            "  x1 [shape=plaintext, label=\"b\\\"\\\\\"];\n"
            "  { rank=same; x0; x2; x1; }\n"
            "  n3 [label=\"A AND NOT B\"];\n"
            "  x0 -> n3 [headlabel=\"a\"];\n  x1 -> n3 [headlabel=\"b\"];\n"
            "  n4 [label=\"NOT\"];\n  n3 -> n4;\n"
            "  n5 [label=\"1\"];\n"
            "  n6 [label=\"AND\"];\n  x2 -> n6;\n  n3 -> n6;\n"
            "  { rank=same; n3; }\n  { rank=same; n4; n6; }\n"
            "  y0 [shape=plaintext, label=\"y\"];\n"
            "  y1 [shape=plaintext, label=\"z\"];\n  { rank=same; y0; y1; }\n"
            "  n4 -> y0;\n  n5 -> y1;\n}\n");
}

TEST(DotTest, IsValidForGraphviz) {
  testing_support::require_tool("dot", "graphviz");
  const testing_support::ScratchFolder scratch;
  testing_support::write_bytes(scratch / "a.dot", to_dot(random_netlist({}, 3)));
  const auto result =
      testing_support::run_tool("dot -Tplain " + (scratch / "a.dot").string() + " | tail -n 1");
  EXPECT_EQ(result.output, "stop\n");
  const std::string large = to_dot(random_netlist({.inputs = 4, .gates = 501, .outputs = 1}, 3));
  EXPECT_EQ(large.find("rank=same; n"), std::string::npos);
}

}  // namespace
}  // namespace boolgrad::circuit
