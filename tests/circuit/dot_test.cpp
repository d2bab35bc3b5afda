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
  netlist.inputs = {"a", "b\"\\"};
  netlist.outputs = {"y", "z"};
  netlist.gates = {{.truth = 0b0010, .inputs = {0, 1}, .arity = 2},
                   {.truth = 1, .inputs = {2}, .arity = 1},
                   {.truth = 1}};
  netlist.output_nets = {3, 4};
  EXPECT_EQ(to_dot(checked(netlist)),
            "digraph \"t\" {\n  rankdir=LR;\n"
            "  n0 [shape=plaintext, label=\"a\"];\n"
            "  n1 [shape=plaintext, label=\"b\\\"\\\\\"];\n"
            "  n2 [shape=box, label=\"A AND NOT B\"];\n"
            "  n0 -> n2 [headlabel=\"a\"];\n  n1 -> n2 [headlabel=\"b\"];\n"
            "  n3 [shape=box, label=\"NOT\"];\n  n2 -> n3 [headlabel=\"a\"];\n"
            "  n4 [shape=box, label=\"1\"];\n"
            "  y0 [shape=plaintext, label=\"y\"];\n  n3 -> y0;\n"
            "  y1 [shape=plaintext, label=\"z\"];\n  n4 -> y1;\n}\n");
}

TEST(DotTest, IsValidForGraphviz) {
  testing_support::require_tool("dot", "graphviz");
  const testing_support::ScratchFolder scratch;
  testing_support::write_bytes(scratch / "a.dot", to_dot(random_netlist({}, 3)));
  const auto result =
      testing_support::run_tool("dot -Tplain " + (scratch / "a.dot").string() + " | tail -n 1");
  EXPECT_EQ(result.output, "stop\n");
}

}  // namespace
}  // namespace boolgrad::circuit
