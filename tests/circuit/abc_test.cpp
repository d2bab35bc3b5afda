// Berkeley ABC proves that all formats describe the same circuit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "boolgrad/automata/rule_netlist.h"
#include "boolgrad/circuit/formats/aiger.h"
#include "boolgrad/circuit/formats/blif.h"
#include "tests/support/exported_netlists.h"
#include "tests/support/life_rule.h"
#include "tests/support/scratch.h"
#include "tests/support/tools.h"

namespace boolgrad::circuit {
namespace {

using testing_support::read_bytes;
using testing_support::require_tool;
using testing_support::run_tool;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

class AbcTest : public testing::Test {
 protected:
  void SetUp() override { require_tool("berkeley-abc", "berkeley-abc"); }

  std::string run(const std::string& commands) const {
    return run_tool(
               fmt::format("cd {} && berkeley-abc -c '{}'", scratch_.path().string(), commands))
        .output;
  }

  /// Whether ABC proves two files equivalent.
  void expect_equal(const std::string& a, const std::string& b) const {
    const std::string output = run("cec -n " + a + " " + b);
    EXPECT_NE(output.find("Networks are equivalent"), std::string::npos) << output;
  }

  void write_all(const Netlist& netlist) const {
    write_bytes(scratch_ / "a.blif", to_blif(netlist));
    write_bytes(scratch_ / "b.aig", to_aiger(netlist, AigerFormat::binary));
    // ABC does not read ASCII AIGER, so it gets the netlist read from it.
    const Netlist ascii = netlist_from_aiger(to_aiger(netlist, AigerFormat::ascii), "c.aag");
    write_bytes(scratch_ / "c.blif", to_blif(ascii));
  }

  ScratchFolder scratch_;
};

TEST_F(AbcTest, ProvesAllFormatsEquivalent) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    write_all(random_netlist({.inputs = 10, .gates = 100, .outputs = 8}, seed));
    expect_equal("a.blif", "b.aig");
    expect_equal("a.blif", "c.blif");
  }
  write_all(harden(life_rule()));
  expect_equal("a.blif", "b.aig");
  expect_equal("a.blif", "c.blif");
}

TEST_F(AbcTest, DetectsAChangedGate) {
  Netlist netlist = random_netlist({.inputs = 4, .gates = 5, .outputs = 1}, 1);
  netlist.output_nets[0] = netlist.gate(4);
  write_bytes(scratch_ / "a.blif", to_blif(netlist));
  netlist.gates[4].truth ^= 1;
  write_bytes(scratch_ / "b.aig", to_aiger(netlist, AigerFormat::binary));
  const std::string output = run("cec -n a.blif b.aig");
  EXPECT_NE(output.find("NOT EQUIVALENT"), std::string::npos) << output;
}

TEST_F(AbcTest, WritesFilesThatCanBeRead) {
  const Netlist netlist = random_netlist({.inputs = 10, .gates = 100, .outputs = 8}, 7);
  write_all(netlist);
  run("read a.blif; strash; dc2; write_aiger d.aig; if -K 6; write_blif e.blif");
  EXPECT_TRUE(agree(netlist, netlist_from_aiger(read_bytes(scratch_ / "d.aig"), "d.aig")));
  EXPECT_TRUE(agree(netlist, netlist_from_blif(read_bytes(scratch_ / "e.blif"), "e.blif")));
}

}  // namespace
}  // namespace boolgrad::circuit
