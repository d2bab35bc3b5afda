#include "boolgrad/circuit/formats/text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "tests/support/exported_netlists.h"
#include "tests/support/messages.h"

namespace boolgrad::circuit {
namespace {

Netlist read(const std::string& text) { return netlist_from_text(text, "f"); }

TEST(NetlistTextTest, RoundTrips) {
  EXPECT_TRUE(rc::check([] {
    const auto inputs = *rc::gen::inRange<std::size_t>(1, 12);
    const auto gates = *rc::gen::inRange<std::size_t>(1, 60);
    const Netlist netlist = random_netlist({.inputs = inputs, .gates = gates, .outputs = 4},
                                           *rc::gen::arbitrary<std::uint64_t>());
    RC_ASSERT(read(to_text(netlist)) == netlist);
  }));
}

TEST(NetlistTextTest, KeepsStateAndOddNames) {
  Netlist netlist = random_automaton(2, Border::periodic, 3);
  netlist.name = "";
  netlist.inputs[0] = "with space";
  netlist.inputs[1] = "100%#\n";
  netlist.inputs[2] = "n0";
  netlist.inputs[3] = "größe";
  netlist.outputs[0] = "n0";
  EXPECT_EQ(read(to_text(netlist)), netlist);
}

TEST(NetlistTextTest, WritesTheExampleOfTheGuide) {
  Netlist netlist;
  netlist.name = "half_adder";
  netlist.inputs = {"a", "b"};
  netlist.outputs = {"sum", "carry"};
  netlist.gates = {{.truth = 0b0110, .inputs = {0, 1}, .arity = 2},
                   {.truth = 0b1000, .inputs = {0, 1}, .arity = 2}};
  netlist.output_nets = {2, 3};
  EXPECT_EQ(to_text(checked(netlist)),
            "netlist half_adder\ninput a\ninput b\ngate n0 0110 a b\ngate n1 0001 a b\n"
            "output sum n0\noutput carry n1\nend\n");
}

TEST(NetlistTextTest, AcceptsGatesInAnyOrder) {
  const Netlist netlist = read(
      "# a comment\n\nnetlist t\ninput a b\ngate top 10 low  # NOT\ngate low 0001 a b\n"
      "output y top\nend\n");
  ASSERT_EQ(netlist.gates.size(), 2U);
  EXPECT_EQ(netlist.gates[0].truth, 0b1000U);
  EXPECT_EQ(netlist.output_nets[0], 3U);
}

TEST(NetlistTextTest, SortsDeepCircuitsWithoutRecursion) {
  std::string text = "netlist t\ninput a\noutput y n0\n";
  constexpr int depth_wanted = 200000;
  for (int i = 0; i < depth_wanted; ++i) {
    text += "gate n" + std::to_string(i) + " 10 " +
            (i + 1 < depth_wanted ? "n" + std::to_string(i + 1) : "a") + "\n";
  }
  EXPECT_EQ(depth(read(text + "end\n")), depth_wanted);
}

TEST(NetlistTextTest, ReportsErrorsWithTheirLine) {
  const auto refuses = [](const std::string& lines, const std::string& message) {
    expect_error([&] { read("netlist t\n" + lines + "end\n"); }, "[netlist] f:" + message);
  };
  refuses("input a\ngate p 0001 a q\ngate q 0110 p a\noutput y q\n",
          "4: expected an acyclic circuit, received a cycle through net p");
  refuses("gate p 10 p\n", "2: expected an acyclic circuit, received a cycle through net p");
  refuses("input a\ngate p 0001 a b\n", "3: expected a driven net, received b");
  refuses("output y a\n", "2: expected a driven net, received a");
  refuses("input a\ngate p 001 a a\n",
          "3: expected a table of 4 digits for 2 inputs, received 3 digits");
  refuses("gate p 0a\n", "2: expected a table of 0 and 1, received 0a");
  refuses("input a a\n", "2: expected one driver of net a, received two");
  refuses("gate p 01 a b c d e f g\n", "2: expected gates of at most 6 inputs, received 7");
  refuses("gate p\n", "2: expected 'gate NET TABLE SOURCE...', received too few words");
  refuses("output y\n", "2: expected 'output NAME NET', received 2 words");
  refuses("input a\noutput y a\noutput y a\n", "4: expected unique output names, received y twice");
  refuses("state 0 zero\n", "2: expected a number of channels, received 0");
  refuses("state 1 round\n", "2: expected the border zero or periodic, received round");
  refuses("wire a\n", "2: expected state, input, gate, output or end, received wire");
  refuses("input a%2\n", "2: expected two hexadecimal digits after %, received a%2");
  refuses("end\nx\n", "3: expected nothing after 'end', received x");
  expect_error([] { read("netlist t\ninput a\n"); },
               "[netlist] f:2: expected a line 'end', received the end of the file");
  expect_error([] { read("input a\n"); },
               "[netlist] f:1: expected 'netlist NAME' first, received input");
}

}  // namespace
}  // namespace boolgrad::circuit
