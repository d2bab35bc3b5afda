#include "boolgrad/circuit/netlist.h"

#include <gtest/gtest.h>

#include "tests/support/messages.h"

namespace boolgrad::circuit {
namespace {

/// Two inputs, an AND and a NOT of it.
Netlist valid() {
  Netlist netlist;
  netlist.inputs = {"a", "b"};
  netlist.outputs = {"y"};
  netlist.gates = {{.truth = 0b1000, .inputs = {0, 1}, .arity = 2},
                   {.truth = 0b01, .inputs = {2}, .arity = 1}};
  netlist.output_nets = {3};
  return netlist;
}

template <class Change>
void refuses(const Change& change, const std::string& message) {
  Netlist netlist = valid();
  change(netlist);
  expect_error([&] { checked(netlist); }, "[netlist] " + message);
}

TEST(Netlist, IsValidated) {
  EXPECT_EQ(checked(valid()), valid());
  refuses([](Netlist& n) { n.gates[0].inputs[1] = 3; },
          "expected gates in topological order, received gate 0 that reads net 3");
  refuses([](Netlist& n) { n.gates[1].inputs[0] = 3; },
          "expected gates in topological order, received gate 1 that reads net 3");
  refuses([](Netlist& n) { n.gates[1].inputs[0] = 9; },
          "expected gate 1 to read existing nets, received net 9 of 4");
  refuses([](Netlist& n) { n.gates[0].truth = 0b11000; },
          "expected a table of 4 bits for gate 0 of 2 inputs, received 0x18");
  refuses([](Netlist& n) { n.gates[0].arity = 7; },
          "expected gates of at most 6 inputs, received 7 at gate 0");
  refuses([](Netlist& n) { n.output_nets[0] = 4; },
          "expected output y to read an existing net, received net 4 of 4");
  refuses([](Netlist& n) { n.output_nets.clear(); },
          "expected a net for each of 1 outputs, received 0");
  refuses([](Netlist& n) { n.inputs[1] = "a"; }, "expected unique input names, received a twice");
  refuses([](Netlist& n) { n.outputs[0] = ""; },
          "expected a name for every output, received an empty one");
  refuses(
      [](Netlist& n) {
        n.state = NetlistState{1, Border::zero};
      },
      "expected 9 inputs and 1 outputs for 1 channels of state, received 2 and 1");
}

TEST(Netlist, EvaluatesWordsOfSamples) {
  EXPECT_EQ(evaluate(valid(), std::vector<std::uint64_t>{0b1010, 0b1100}),
            std::vector<std::uint64_t>{~0b1000ULL});
  expect_error([] { evaluate(valid(), std::vector<std::uint64_t>{1}); },
               "[netlist] expected 2 words, one per input, received 1");
}

}  // namespace
}  // namespace boolgrad::circuit
