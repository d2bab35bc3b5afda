#include "boolgrad/circuit/formats/verilog.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "boolgrad/automata/rule_netlist.h"
#include "boolgrad/circuit/formats/blif.h"
#include "boolgrad/circuit/group_sums.h"
#include "boolgrad/circuit/harden.h"
#include "tests/support/convolution_networks.h"
#include "tests/support/exported_netlists.h"
#include "tests/support/life_rule.h"
#include "tests/support/messages.h"
#include "tests/support/scratch.h"
#include "tests/support/tools.h"

namespace boolgrad::circuit {
namespace {

using testing_support::require_tool;
using testing_support::run_tool;
using testing_support::ScratchFolder;
using testing_support::ToolResult;
using testing_support::write_bytes;

class VerilogTest : public testing::Test {
 protected:
  void SetUp() override {
    require_tool("iverilog", "iverilog");
    require_tool("yosys", "yosys");
  }

  /// The output of the test bench.
  ToolResult simulate(const Verilog& verilog) const {
    write_bytes(scratch_ / "design.v", verilog.design);
    write_bytes(scratch_ / "bench.v", verilog.test_bench);
    return run_tool("cd " + scratch_.path().string() +
                    " && iverilog -g2005-sv -Wall -Wno-timescale -o bench design.v bench.v && vvp "
                    "-n bench");
  }

  void expect_pass(const Verilog& verilog, int cases) const {
    const ToolResult result = simulate(verilog);
    EXPECT_EQ(result.code, 0) << result.output;
    EXPECT_NE(result.output.find(fmt::format("PASS {}\n", cases)), std::string::npos)
        << result.output << verilog.design;
  }

  /// Synthesises with Yosys and returns the number of cells.
  int cells(const Verilog& verilog, const std::string& label) const {
    write_bytes(scratch_ / "design.v", verilog.design);
    const ToolResult result = run_tool(
        fmt::format("cd {} && yosys -q -p 'read_verilog design.v; synth -flatten -top {}; check "
                    "-assert; tee -o cells.txt stat'; cat cells.txt",
                    scratch_.path().string(), verilog.module_name));
    EXPECT_EQ(result.code, 0) << result.output;
    const std::string heading = "Number of cells:";
    const std::size_t at = result.output.rfind(heading);
    if (at == std::string::npos) {
      ADD_FAILURE() << result.output;
      return 0;
    }
    const int count = std::stoi(result.output.substr(at + heading.size()));
    RecordProperty("yosys_cells_" + label, count);
    fmt::print("Yosys: {} cells of {}\n", count, label);
    return count;
  }

  ScratchFolder scratch_;
};

TEST_F(VerilogTest, CombinationalModulesPass) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const Netlist netlist =
        random_netlist({.inputs = 5 + seed * 20, .gates = 60, .outputs = 7}, seed);
    // All combinations up to 16 inputs, else 256 different random ones.
    expect_pass(to_verilog(netlist), seed == 0 ? 32 : 256);
  }
}

TEST_F(VerilogTest, ClassifiersPass) {
  const Netlist netlist = random_netlist({.inputs = 12, .gates = 60, .outputs = 20}, 4);
  expect_pass(to_verilog(with_argmax(netlist, 5)), 4096);
  expect_pass(to_pipelined_verilog(with_argmax(netlist, 5), 3), 4096);
}

TEST_F(VerilogTest, PipelinedModulesPass) {
  for (const std::int64_t levels : {1, 2, 3, 1000}) {
    const Netlist netlist = random_netlist({.inputs = 12, .gates = 60, .outputs = 7}, 4);
    expect_pass(to_pipelined_verilog(netlist, levels), 4096);
  }
}

/// Two numbers of three bits, with names that are keywords and names of nets.
Netlist named_netlist() {
  Netlist netlist = random_netlist({.inputs = 8, .gates = 40, .outputs = 4}, 5);
  netlist.inputs = {"a[0]", "a[1]", "a[2]", "n3[1]", "n3[0]", "wire", "x5_d1", "b[7]"};
  netlist.outputs = {"y[1]", "y[0]", "clk", "out 1"};
  return netlist;
}

TEST_F(VerilogTest, PortsHaveTheNamesOfInputsAndOutputs) {
  const VerilogOptions options{.module_name = "top", .named_ports = true};
  const Verilog verilog = to_verilog(named_netlist(), options);
  EXPECT_NE(verilog.design.find("module top (\n  input wire [2:0] a,\n  input wire [1:0] n3,\n"
                                "  input wire wire_2,\n  input wire x5_d1,\n  input wire b_7_,\n"
                                "  output wire [1:0] y,\n  output wire clk_2,\n"
                                "  output wire out_1\n);\n"),
            std::string::npos)
      << verilog.design;
  expect_pass(verilog, 256);
  for (const bool has_reset : {false, true}) {
    for (const bool has_enable : {false, true}) {
      for (const bool has_valid : {false, true}) {
        for (const std::int64_t levels : {1, 100}) {
          expect_pass(to_pipelined_verilog(named_netlist(),
                                           {.levels = levels,
                                            .has_valid = has_valid,
                                            .has_reset = has_reset,
                                            .has_enable = has_enable},
                                           options),
                      256);
        }
      }
    }
  }
}

TEST_F(VerilogTest, TestBenchesDetectMissingControls) {
  const PipelineOptions all{.levels = 2, .has_valid = true, .has_reset = true, .has_enable = true};
  const Verilog verilog = to_pipelined_verilog(named_netlist(), all);
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"end else if (enable) begin", "end else begin"},
           {"valid1 <= valid_in", "valid1 <= 1"},
           {"if (reset) begin", "if (0) begin"}}) {
    Verilog changed = verilog;
    const std::size_t at = changed.design.find(from);
    ASSERT_NE(at, std::string::npos) << changed.design;
    changed.design.replace(at, from.size(), to);
    const ToolResult result = simulate(changed);
    EXPECT_NE(result.code, 0) << from;
    EXPECT_NE(result.output.find("FAIL"), std::string::npos) << result.output;
  }
}

TEST(VerilogCases, AreDifferent) {
  const Netlist netlist = random_netlist({.inputs = 17, .gates = 20, .outputs = 1}, 3);
  const Verilog verilog = to_verilog(netlist);
  EXPECT_NE(verilog.test_bench.find("$display(\"PASS 256\")"), std::string::npos);
  EXPECT_NE(verilog.test_bench.find("given_rows[0]"), std::string::npos);
  Netlist small = random_netlist({.inputs = 16, .gates = 20, .outputs = 1}, 3);
  EXPECT_NE(to_verilog(small).test_bench.find("$display(\"PASS 65536\")"), std::string::npos);
}

TEST_F(VerilogTest, ArraysOfCellsPass) {
  expect_pass(to_verilog_array(harden(life_rule()), {5, 6}), 10);
  for (const Border border : {Border::zero, Border::periodic}) {
    expect_pass(to_verilog_array(random_automaton(3, border, 2), {4, 3}), 10);
    expect_pass(to_verilog_array(random_automaton(1, border, 2), {1, 1}), 10);
  }
}

TEST_F(VerilogTest, SharedKernelsAgreeWithTheNetwork) {
  int found = 0;
  for (std::uint64_t seed = 0; found < 12; ++seed) {
    const logic::Network network = random_convolution_network(seed);
    std::optional<SharedCircuit> circuit = shared_circuit_of(network);
    if (!circuit) continue;
    if (found++ % 3 != 0) circuit = simplified(*circuit);
    Verilog verilog = to_verilog(*circuit);
    const std::size_t inputs = circuit->inputs.size();
    const int cases = inputs > 16 ? 256 : 1 << inputs;
    expect_pass(verilog, cases);
    // The test bench of the network, which knows nothing of kernels.
    verilog.test_bench = to_verilog(harden(network)).test_bench;
    expect_pass(verilog, cases);
  }
}

TEST_F(VerilogTest, YosysProvesSharedKernelsEquivalent) {
  logic::Network network(2 * 5 * 6, Parametrisation::sigmoid);
  add_convolution(network, {2, 5, 6}, {.kernels = 3, .padding = 1, .depth = 2, .pool = 3}, 2);
  network.add_layer({.gates = 4, .initialisation = random_tables});
  Netlist netlist = harden(network);
  netlist.name = "flat";
  const Verilog flat = to_verilog(netlist);
  const Verilog shared = to_verilog(simplified(shared_circuit_of(network).value()));
  EXPECT_GT(cells(shared, "shared_kernels"), 0);
  write_bytes(scratch_ / "flat.v", flat.design);
  const ToolResult result = run_tool(fmt::format(
      "cd {} && yosys -q -p 'read_verilog flat.v design.v; proc; flatten; miter -equiv -flatten "
      "{} {} miter; sat -verify -prove trigger 0 miter'",
      scratch_.path().string(), flat.module_name, shared.module_name));
  EXPECT_EQ(result.code, 0) << result.output;
}

TEST_F(VerilogTest, TestBenchesDetectAChangedGate) {
  Netlist netlist = random_automaton(1, Border::zero, 1);
  netlist.output_nets[0] = netlist.gate(29);
  Netlist other = netlist;
  other.gates[29].truth ^= netlist.gates[29].arity == 0 ? 1 : 3;
  const auto expect_failure = [&](Verilog verilog, const Verilog& wrong) {
    verilog.design = wrong.design;
    const ToolResult result = simulate(verilog);
    EXPECT_NE(result.code, 0);
    EXPECT_NE(result.output.find("FAIL"), std::string::npos) << result.output;
  };
  expect_failure(to_verilog(netlist), to_verilog(other));
  expect_failure(to_pipelined_verilog(netlist, 2), to_pipelined_verilog(other, 2));
  expect_failure(to_verilog_array(netlist, {4, 4}), to_verilog_array(other, {4, 4}));
}

TEST_F(VerilogTest, YosysSynthesisesAll) {
  const Netlist life = harden(life_rule());
  const int alone = cells(to_verilog(life), "life");
  EXPECT_GT(alone, 0);
  EXPECT_GT(cells(to_pipelined_verilog(life, 1), "life_pipelined"), alone);
  EXPECT_GT(cells(to_verilog_array(life, {4, 4}), "life_4x4"), 16);
}

TEST_F(VerilogTest, YosysProvesEquivalenceToBlif) {
  const Netlist netlist = random_netlist({.inputs = 7, .gates = 40, .outputs = 4}, 9);
  const Verilog verilog = to_verilog(netlist);
  write_bytes(scratch_ / "design.v", verilog.design);
  write_bytes(scratch_ / "gold.blif", to_blif(netlist));
  write_bytes(scratch_ / "wrapper.v",
              fmt::format("module gate(input x0, x1, x2, x3, x4, x5, x6, output y0, y1, y2, y3);\n"
                          "  {} c(.in({{x6, x5, x4, x3, x2, x1, x0}}), .out({{y3, y2, y1, y0}}));\n"
                          "endmodule\n",
                          verilog.module_name));
  const ToolResult result =
      run_tool(fmt::format("cd {} && yosys -q -p 'read_blif gold.blif; read_verilog design.v "
                           "wrapper.v; hierarchy; proc; "
                           "flatten gate; techmap; miter -equiv -flatten random gate miter; sat "
                           "-verify -prove trigger 0 "
                           "miter'",
                           scratch_.path().string()));
  EXPECT_EQ(result.code, 0) << result.output;
}

TEST_F(VerilogTest, RejectsInvalidArguments) {
  const Netlist netlist = random_netlist({}, 1);
  expect_error([&] { to_pipelined_verilog(netlist, 0); },
               "[verilog] expected registers every 1 or more levels, received 0");
  expect_error(
      [&] {
        to_verilog_array(netlist, {4, 4});
      },
      "[verilog] expected the rule of an automaton for an array, received none");
  expect_error(
      [&] {
        to_verilog_array(random_automaton(1, Border::zero, 1), {0, 4});
      },
      "[verilog] expected an array of 1x1 to 4096x4096 cells, received 0x4");
  expect_error([] { to_verilog(Netlist{}); },
               "[verilog] expected at least one input and one output, received 0 and 0");
}

}  // namespace
}  // namespace boolgrad::circuit
