// Trained models: pinned gate counts, compared with Yosys and ABC, and every format proven
// equivalent to the model.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "boolgrad/circuit/bits/runner.h"
#include "boolgrad/circuit/formats/aiger.h"
#include "boolgrad/circuit/formats/blif.h"
#include "boolgrad/circuit/formats/c99.h"
#include "boolgrad/circuit/formats/net_names.h"
#include "boolgrad/circuit/formats/verilog.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/proof/equivalence.h"
#include "tests/support/bit_circuits.h"
#include "tests/support/built_in_netlists.h"
#include "tests/support/exported_netlists.h"
#include "tests/support/tools.h"

namespace boolgrad::circuit {
namespace {

using testing_support::read_bytes;
using testing_support::require_tool;
using testing_support::run_tool;
using testing_support::ScratchFolder;
using testing_support::ToolResult;
using testing_support::write_bytes;

using Counts = std::vector<std::int64_t>;

/// Gates as trained, then after each pass: constant propagation, unused inputs, buffer absorption,
/// structural hashing, dangling gates, decomposition, iterations of resubstitution, don't-care
/// optimisation and cut rewriting, and arithmetic resynthesis, which is followed by more iterations
/// if it saves gates.
const std::map<std::string, Counts> pinned{
    {"life", {2415, 2237, 2237, 168, 125, 82, 78, 72, 52, 51, 51, 51, 51, 51}},
    {"checkerboard", {4608, 4452, 4452, 160, 158, 5, 5, 5, 5, 5, 5}},
    {"checkerboard-async", {5632, 4924, 4924, 322, 290, 19, 14, 14, 14, 12, 12, 12, 12, 12}},
    {"add", {933, 782, 782, 742, 716, 347, 1223, 1028, 107, 102, 102, 50,
             45,  38,  23,  20,  20,  20,  20,   17,   17,  17,  17}},
    {"add_gates",
     {7077, 5324, 5324, 1178, 786, 260, 244, 205, 65, 60, 60, 46, 42, 42, 42, 42, 17, 17, 17, 17}},
    {"multiply", {936, 866, 866, 840, 826, 715, 2555, 2100, 541, 521, 516, 462, 459, 459, 416,
                  414, 414, 403, 402, 400, 396, 395,  395,  395, 395, 64,  64,  64,  64}},
    {"multiply_gates", {7080, 5798, 5798, 1920, 1409, 753, 711, 621, 272, 272, 272, 256,
                        256,  256,  251,  251,  251,  251, 251, 64,  64,  64,  64}},
    {"popcount",
     {932, 865, 865, 859, 854, 524, 2017, 1631, 257, 244, 243, 222, 221, 220, 217, 217, 217, 216,
      214, 214, 210, 208, 207, 206, 206,  206,  206, 206, 26,  26,  26,  25,  25,  25,  25}},
    {"parity", {929, 875, 875, 869, 869, 53, 186, 179, 10, 9, 9, 9, 9, 7, 7, 7, 7}},
    {"gray", {936, 697, 697, 595, 528, 77, 188, 7, 7, 7, 7, 7, 7, 7}},
    {"and", {932, 849, 849, 748, 698, 283, 785, 4, 4, 4, 4, 4, 4, 4}},
    {"xor", {932, 762, 762, 694, 606, 49, 4, 4, 4, 4, 4}},
    {"copy", {936, 793, 793, 553, 550, 197, 561, 0, 0, 0, 0, 0, 0, 0}},
    {"reverse", {936, 771, 771, 474, 465, 134, 268, 0, 0, 0, 0, 0, 0, 0}},
};

class BuiltInModelTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    require_tool("yosys", "yosys");
    require_tool("gcc", "gcc");
  }

  std::string in_scratch(const std::string& command) const {
    const ToolResult result =
        run_tool(fmt::format("cd {} && {}", scratch_.path().string(), command));
    EXPECT_EQ(result.code, 0) << result.output;
    return result.output;
  }

  /// The number of two-input cells, inverters included, after synthesis by Yosys and ABC.
  int cells_by_abc(const Netlist& netlist) const {
    write_bytes(scratch_ / "netlist.blif", to_blif(netlist));
    const std::string output = in_scratch(
        "yosys -q -p 'read_blif netlist.blif; techmap; opt; abc -g gates; opt_clean; tee -o "
        "cells.txt stat' && cat cells.txt");
    const std::string heading = "Number of cells:";
    const std::size_t at = output.rfind(heading);
    EXPECT_NE(at, std::string::npos) << output;
    return at == std::string::npos ? 0 : std::stoi(output.substr(at + heading.size()));
  }

  /// The netlist that Yosys reads from Verilog.
  Netlist read_by_yosys(const Netlist& netlist) const {
    const Verilog verilog = to_verilog(netlist);
    write_bytes(scratch_ / "design.v", verilog.design);
    in_scratch(
        fmt::format("yosys -q -p 'read_verilog design.v; hierarchy -top {}; proc; flatten; "
                    "techmap; opt; write_blif read.blif'",
                    verilog.module_name));
    return netlist_from_blif(read_bytes(scratch_ / "read.blif"), "read.blif");
  }

  ScratchFolder scratch_;
  Netlist as_trained_ = built_in_netlist(GetParam());
};

TEST_P(BuiltInModelTest, HasThePinnedCounts) {
  std::vector<PassStats> stats;
  const Netlist result = simplify(as_trained_, {}, &stats);
  Counts counts{stats[0].gates_before};
  for (const PassStats& pass : stats) counts.push_back(pass.gates_after);
  EXPECT_EQ(counts, pinned.at(GetParam())) << fmt::format("{{{}}}", fmt::join(counts, ", "));
  EXPECT_FALSE(difference(as_trained_, result));
}

TEST_P(BuiltInModelTest, IsNoLargerThanTheResultOfYosysAndAbc) {
  const Netlist result = simplify(as_trained_);
  const auto ours = static_cast<double>(gate_count(result));
  const int of_trained = cells_by_abc(as_trained_);
  const int of_ours = cells_by_abc(result);
  fmt::print("{}: {} gates; Yosys and ABC: {} from what was trained, {} from ours\n", GetParam(),
             ours, of_trained, of_ours);
  EXPECT_LE(ours, 1.1 * of_trained);
  EXPECT_LE(ours, 1.1 * of_ours);
}

TEST_P(BuiltInModelTest, IsProvenEquivalentInEveryReadableFormat) {
  const Netlist result = simplify(as_trained_);
  EXPECT_FALSE(difference(as_trained_, netlist_from_text(to_text(result), "text")));
  EXPECT_FALSE(difference(as_trained_, netlist_from_blif(to_blif(result), "blif")));
  for (const AigerFormat form : {AigerFormat::ascii, AigerFormat::binary}) {
    EXPECT_FALSE(difference(as_trained_, netlist_from_aiger(to_aiger(result, form), "aiger")));
  }
  EXPECT_FALSE(difference(as_trained_, read_by_yosys(result))) << "Verilog";
}

/// The inputs that gates or outputs read.
std::vector<std::size_t> inputs_read(const Netlist& netlist) {
  std::vector<bool> read(netlist.inputs.size(), false);
  const auto note = [&](Net net) {
    if (netlist.is_input(net)) read[net] = true;
  };
  for (const NetlistGate& gate : netlist.gates) {
    for (const Net net : gate.sources()) note(net);
  }
  for (const Net net : netlist.output_nets) note(net);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (read[i]) found.push_back(i);
  }
  return found;
}

TEST_P(BuiltInModelTest, IsEquivalentInC) {
  // All combinations of the inputs that the C code reads. The model is proven to depend on no
  // others.
  Netlist result = simplify(as_trained_);
  EXPECT_FALSE(difference(as_trained_, result));
  result.name = "model";
  const std::vector<std::size_t> read = inputs_read(result);
  ASSERT_LE(read.size(), 16U);
  write_bytes(scratch_ / "model.h", to_c(result));
  std::string positions;
  for (const std::size_t i : read) positions += fmt::format("{}, ", i);
  write_bytes(scratch_ / "main.c",
              fmt::format("#include \"model.h\"\n#include <inttypes.h>\n#include <stdio.h>\n"
                          "static const int positions[] = {{{}0}};\n"
                          "int main(void) {{\n"
                          "  for (uint64_t first = 0; first < {}; first += 64) {{\n"
                          "    uint64_t in[MODEL_INPUTS] = {{0}}, out[MODEL_OUTPUTS];\n"
                          "    for (uint64_t s = 0; s < 64; ++s)\n"
                          "      for (int j = 0; j < {}; ++j)\n"
                          "        in[positions[j]] |= ((first + s) >> j & 1) << s;\n"
                          "    model_eval(in, out);\n"
                          "    for (int o = 0; o < MODEL_OUTPUTS; ++o) printf(\"%\" PRIx64 \"\\n\","
                          " out[o]);\n  }}\n}}\n",
                          positions, std::uint64_t{1} << read.size(), read.size()));
  std::string expected;
  for (std::uint64_t first = 0; first < std::uint64_t{1} << read.size(); first += 64) {
    const std::vector<std::uint64_t> cases = all_cases(read.size(), first / 64);
    std::vector<std::uint64_t> words(result.inputs.size(), 0);
    for (std::size_t j = 0; j < read.size(); ++j) words[read[j]] = cases[j];
    for (const std::uint64_t word : evaluate(as_trained_, words)) {
      expected += fmt::format("{:x}\n", word);
    }
  }
  for (const std::string compiler : {"gcc", "clang"}) {
    require_tool(compiler, compiler);
    EXPECT_EQ(in_scratch(compiler + " -std=c99 -O1 -Wall -Wextra -Wpedantic -Werror main.c -o main "
                                    "&& ./main"),
              expected)
        << compiler;
  }
}

TEST_P(BuiltInModelTest, RunsBitParallel) {
  const CircuitRunner runner(as_trained_);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const logic::BitMatrix inputs{runner.inputs(), 64,
                                  random_words(as_trained_.inputs.size(), seed)};
    EXPECT_EQ(runner.run(inputs).words, evaluate(as_trained_, inputs.words));
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  return identifier(info.param);
}

INSTANTIATE_TEST_SUITE_P(Models, BuiltInModelTest, testing::ValuesIn(built_in_models), test_name);

}  // namespace
}  // namespace boolgrad::circuit
