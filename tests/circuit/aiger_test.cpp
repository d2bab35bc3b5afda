#include "boolgrad/circuit/formats/aiger.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "tests/support/exported_netlists.h"
#include "tests/support/messages.h"

namespace boolgrad::circuit {
namespace {

Netlist read(const std::string& bytes) { return netlist_from_aiger(bytes, "f"); }

TEST(AigerTest, RoundTrips) {
  EXPECT_TRUE(rc::check([] {
    const auto inputs = *rc::gen::inRange<std::size_t>(1, 12);
    const auto gates = *rc::gen::inRange<std::size_t>(1, 60);
    const Netlist netlist = random_netlist({.inputs = inputs, .gates = gates, .outputs = 4},
                                           *rc::gen::arbitrary<std::uint64_t>());
    for (const AigerFormat form : {AigerFormat::ascii, AigerFormat::binary}) {
      const Netlist back = read(to_aiger(netlist, form));
      RC_ASSERT(back.inputs == netlist.inputs);
      RC_ASSERT(back.outputs == netlist.outputs);
      RC_ASSERT(agree(netlist, back));
    }
  }));
}

TEST(AigerTest, WritesAHalfAdder) {
  Netlist netlist;
  netlist.name = "half_adder";
  netlist.inputs = {"a", "b"};
  netlist.outputs = {"carry", "nand"};
  netlist.gates = {{.truth = 0b1000, .inputs = {0, 1}, .arity = 2},
                   {.truth = 0b0111, .inputs = {1, 0}, .arity = 2}};
  netlist.output_nets = {2, 3};
  EXPECT_EQ(to_aiger(netlist, AigerFormat::ascii),
            "aag 3 2 0 2 1\n2\n4\n6\n7\n6 4 2\ni0 a\ni1 b\no0 carry\no1 nand\nc\nhalf_adder\n");
  EXPECT_EQ(to_aiger(netlist, AigerFormat::binary),
            "aig 3 2 0 2 1\n6\n7\n\x02\x02i0 a\ni1 b\no0 carry\no1 nand\nc\nhalf_adder\n");
}

TEST(AigerTest, WritesDifferentNamesThatPrintAlike) {
  Netlist netlist;
  netlist.inputs = {"a\x01", "a\x02", "a?_2"};
  netlist.outputs = {"y"};
  netlist.output_nets = {1};
  const Netlist back = read(to_aiger(netlist, AigerFormat::ascii));
  EXPECT_EQ(back.inputs, (std::vector<std::string>{"a?", "a?_2", "a?_2_2"}));
  EXPECT_EQ(back.output_nets, netlist.output_nets);
}

TEST(AigerTest, ReadsConstantsInversionsAndAnyOrder) {
  const Netlist netlist = read("aag 5 2 0 4 2\n2\n4\n0\n1\n11\n3\n10 8 5\n8 2 4\n");
  EXPECT_EQ(netlist.inputs, (std::vector<std::string>{"i0", "i1"}));
  const std::vector<std::uint64_t> words{0b1010, 0b1100};
  EXPECT_EQ(evaluate(netlist, words), (std::vector<std::uint64_t>{0, ~0ULL, ~0ULL, ~0b1010ULL}));
}

TEST(AigerTest, ReportsErrorsWithTheirLine) {
  const auto refuses = [](const std::string& bytes, const std::string& message) {
    expect_error([&] { read(bytes); }, "[aiger] f:" + message);
  };
  refuses("",
          "1: expected a line 'aag M I L O A' or 'aig M I L O A', received the end of the file");
  refuses("abc 1 1 0 0 0\n",
          "1: expected 'aag M I L O A' or 'aig M I L O A', received abc 1 1 0 0 0");
  refuses("aag 1 1 0 0\n", "1: expected 'aag M I L O A' or 'aig M I L O A', received aag 1 1 0 0");
  refuses("aag 99999999999 1 0 0 0\n",
          "1: expected 'aag M I L O A' or 'aig M I L O A', received aag 99999999999 1 0 0 0");
  refuses("aag 2 1 1 0 0\n", "1: expected a combinational circuit, received latches or properties");
  refuses("aig 99999999 99999999 0 0 0\n",
          "1: expected at most 65536 inputs in a file of 28 bytes, received 99999999");
  refuses("aig 3 1 0 0 1\n", "1: expected 2 variables for 1 inputs and 1 gates, received 3");
  refuses("aag 1 1 0 0 1\n",
          "1: expected at least 2 variables for 1 inputs and 1 gates, received 1");
  refuses("aag 3 1 0 1 2\n2\n4\n4 6 2\n6 4 2\n",
          "5: expected an acyclic circuit, received a cycle through net 2");
  refuses("aag 3 1 0 1 1\n2\n6\n4 2 2\n", "3: expected a driven net, received 3");
  refuses("aag 1 1 0 1 0\n2\n8\n", "3: expected literals up to 3, received 8");
  refuses("aag 1 1 0 0 0\n3\n", "2: expected a positive even literal on the left, received 3");
  refuses("aag 2 1 0 0 1\n2\n4 2\n", "3: expected AND gate 1 of 1, received 4 2");
  refuses("aag 2 1 0 0 1\n2\n", "3: expected AND gate 1 of 1, received the end of the file");
  refuses("aig 2 1 0 0 1\n\x02", "2: expected AND gate 1 of 1, received the end of the file");
  refuses(std::string("aig 2 1 0 0 1\n\x00\x01", 16),
          "2: expected AND gate 1 of 1 to read earlier literals, received later ones");
  refuses("aig 2 1 0 0 1\n\xFF\xFF\xFF\xFF\xFF\xFF",
          "2: expected AND gate 1 of 1, received a number that is too large");
  refuses("aag 1 1 0 0 0\n2\ni7 x\n", "3: expected a symbol of an input or output, received i7 x");
}

TEST(AigerTest, RejectsTruncatedFiles) {
  for (const AigerFormat form : {AigerFormat::ascii, AigerFormat::binary}) {
    const std::string bytes = to_aiger(random_netlist({}, 5), form);
    // The circuit is complete without symbols and comments.
    const std::size_t circuit = bytes.find("i0 x0\n");
    for (std::size_t size = 0; size < circuit; ++size) {
      EXPECT_THROW(read(bytes.substr(0, size)), Error) << size;
    }
  }
}

}  // namespace
}  // namespace boolgrad::circuit
