#include "boolgrad/circuit/formats/blif.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "tests/support/exported_netlists.h"
#include "tests/support/messages.h"

namespace boolgrad::circuit {
namespace {

Netlist read(const std::string& text) { return netlist_from_blif(text, "f"); }

TEST(BlifTest, RoundTrips) {
  EXPECT_TRUE(rc::check([] {
    const auto inputs = *rc::gen::inRange<std::size_t>(1, 12);
    const auto gates = *rc::gen::inRange<std::size_t>(1, 60);
    const Netlist netlist = random_netlist({.inputs = inputs, .gates = gates, .outputs = 4},
                                           *rc::gen::arbitrary<std::uint64_t>());
    const Netlist back = read(to_blif(netlist));
    RC_ASSERT(back.inputs == netlist.inputs);
    RC_ASSERT(back.outputs == netlist.outputs);
    RC_ASSERT(agree(netlist, back));
  }));
}

TEST(BlifTest, KeepsGatesAndMakesNamesLegal) {
  Netlist netlist = random_netlist({.inputs = 3, .gates = 4, .outputs = 2}, 1);
  netlist.inputs = {"a b", "a#b", "y"};
  netlist.outputs = {"y", "n0"};
  netlist.output_nets = {netlist.gate(2), netlist.gate(3)};
  const Netlist back = read(to_blif(netlist));
  EXPECT_EQ(back.inputs, (std::vector<std::string>{"a_b", "a_b_2", "y"}));
  EXPECT_EQ(back.outputs, (std::vector<std::string>{"y_2", "n0"}));
  EXPECT_EQ(back.gates, netlist.gates);
  EXPECT_EQ(back.output_nets, netlist.output_nets);
}

TEST(BlifTest, ReadsFilesOfOtherTools) {
  const Netlist netlist = read(
      "# comment\r\n.model top\r\n.inputs a \\\r\n b\r\n.inputs c\r\n.outputs y z one\r\n"
      ".names n c y # OR\r\n1- 1\r\n-1 1\r\n.names a b n\r\n11 1\r\n.names a b z\n00 0\n"
      ".names one\n1\n.end\n");
  EXPECT_EQ(netlist.name, "top");
  ASSERT_EQ(netlist.gates.size(), 4U);
  EXPECT_EQ(netlist.gates[0].truth, 0b1000U);
  EXPECT_EQ(netlist.gates[1].truth, 0b1110U);
  EXPECT_EQ(netlist.gates[2].truth, 0b1110U);
  EXPECT_EQ(netlist.gates[3].truth, 1U);
}

TEST(BlifTest, ReportsErrorsWithTheirLine) {
  const auto refuses = [](const std::string& lines, const std::string& message) {
    expect_error([&] { read(".model t\n" + lines + ".end\n"); }, "[blif] f:" + message);
  };
  refuses(".inputs a\n.outputs q\n.names a q p\n11 1\n.names p a q\n10 1\n",
          "6: expected an acyclic circuit, received a cycle through net p");
  refuses(".outputs y\n", "2: expected a driven net, received y");
  refuses(".inputs a\n.names a y\n11 1\n",
          "4: expected 1 characters 0, 1 or - and the output, received 11");
  refuses(".inputs a\n.names a y\n1 2\n", "4: expected the output 0 or 1, received 2");
  refuses(".inputs a\n.names a y\n1 1\n0 0\n",
          "5: expected a cover with one output value, received 0 and 1");
  refuses(".names a b c d e f g y\n", "2: expected .names of at most 6 inputs, received 7");
  refuses(".names\n", "2: expected '.names SOURCE... NET', received no net");
  refuses(".latch a b\n",
          "2: expected .model, .inputs, .outputs, .names or .end of a combinational circuit, "
          "received .latch");
  refuses("11 1\n", "2: expected a line that begins with a dot, received 11");
  refuses(".model u\n", "2: expected one model, received a second");
  refuses(".inputs a\n.outputs a a\n", "3: expected unique output names, received a twice");
}

TEST(BlifTest, RejectsTruncatedFiles) {
  const std::string text = to_blif(random_netlist({}, 5));
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    EXPECT_THROW(read(text.substr(0, size)), Error) << size;
  }
  expect_error([] { read(".model t\n.inputs a\n"); },
               "[blif] f:2: expected a line '.end', received the end of the file");
}

}  // namespace
}  // namespace boolgrad::circuit
