#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "boolgrad/circuit/formats/netlist_files.h"
#include "boolgrad/circuit/proof/equivalence.h"
#include "boolgrad/model/model.h"
#include "boolgrad/train/learners/initial_model.h"
#include "tests/cli/run_cli.h"
#include "tests/support/tools.h"

namespace boolgrad {
namespace {

using nlohmann::json;
using testing_support::CliResult;
using testing_support::read_bytes;
using testing_support::require_tool;
using testing_support::run_cli;
using testing_support::run_tool;
using testing_support::ScratchFolder;
using testing_support::ToolResult;
using testing_support::write_bytes;

/// A full adder with a gate too many.
const char* const full_adder =
    "module adder(a, b, c, y);\n  input a, b, c;\n  output [1:0] y;\n"
    "  wire n;\n  assign n = (a ^ b) ^ 1'b0;\n  assign y[0] = n ^ c;\n"
    "  assign y[1] = (a & b) | (a & c) | (b & c);\nendmodule\n";

class CircuitCommands : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return (scratch_ / name).string(); }

  std::string written(const std::string& name, const std::string& content) const {
    write_bytes(file(name), content);
    return file(name);
  }

  /// An untrained network for a task of four inputs.
  std::string model_of(const std::string& task, const std::string& name, std::int64_t outputs,
                       std::uint64_t seed = 1) const {
    const train::Experiment experiment = train::parse_experiment(
        fmt::format("seed = {}\n[task]\nkind = '{}'\nbits = 4\n[network]\nhidden = [12]\n", seed,
                    task),
        task, task, "");
    save_model(file(name), train::to_toml(experiment),
               train::make_network(experiment, 4, outputs).to_file());
    return file(name);
  }

  static void expect_refused(const CliResult& result, const std::string& message, int code = 1) {
    EXPECT_EQ(result.code, code);
    EXPECT_EQ(result.complaint(), message);
    EXPECT_EQ(result.out, "");
  }

  ScratchFolder scratch_;
};

TEST_F(CircuitCommands, ImportConvertsBetweenAllFormats) {
  const std::string source = written("adder.v", full_adder);
  std::string before = source;
  for (const char* name : {"a.net", "b.blif", "c.aig", "d.aag", "e.html", "f.v"}) {
    const CliResult result = run_cli({"import", before, "-o", file(name), "--json"});
    ASSERT_EQ(result.code, 0) << result.err;
    const json answer = result.json();
    EXPECT_EQ(answer["inputs"], 3);
    EXPECT_EQ(answer["outputs"], 2);
    EXPECT_EQ(answer["proven"], true);
    EXPECT_EQ(answer["read_back"], !std::string(name).ends_with(".v"));
    EXPECT_FALSE(
        circuit::difference(circuit::read_netlist(source), circuit::read_netlist(file(name))));
    before = file(name);
  }
  EXPECT_NE(read_bytes(file("f.v"))
                .find("  input wire a,\n  input wire b,\n  input wire c,\n"
                      "  output wire [1:0] y\n"),
            std::string::npos);
  for (const char* name : {"g.h", "h.dot"}) {
    ASSERT_EQ(run_cli({"import", source, "-o", file(name)}).code, 0);
  }
}

TEST_F(CircuitCommands, ImportPrintsSizes) {
  const std::string source = written("adder.v", full_adder);
  const CliResult result = run_cli({"import", source, "-o", file("a.h"), "--name", "my_adder"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out,
            fmt::format("{}: 5 gates of 7, depth 4 of 3, proven equivalent to {} before "
                        "writing\n",
                        file("a.h"), source));
  EXPECT_NE(read_bytes(file("a.h")).find("my_adder_eval("), std::string::npos);
  const CliResult as_read = run_cli(
      {"import", source, "-o", file("b"), "--format", "netlist", "--as-read", "--no-proof"});
  EXPECT_EQ(as_read.out, fmt::format("{}: 7 gates of 7, depth 3 of 3, not proven\n", file("b")));
  // A name without an extension is no obstacle.
  ASSERT_EQ(run_cli({"import", file("b"), "--from", "netlist", "-o", file("c.blif")}).code, 0);
  const CliResult exported = run_cli({"export", source, "-o", file("d.blif"), "--json"});
  ASSERT_EQ(exported.code, 0) << exported.err;
  EXPECT_EQ(exported.json()["format"], "blif");
}

TEST_F(CircuitCommands, ImportReportsErrors) {
  const std::string source = written("adder.v", full_adder);
  const std::string registers = written(
      "dff.v", "module t(input c, d, output reg q);\nalways @(posedge c) q <= d;\nendmodule\n");
  expect_refused(
      run_cli({"import", registers, "-o", file("a.blif")}),
      "[verilog] " + registers +
          ":1: expected a combinational circuit of gates and assignments, received 'reg'");
  expect_refused(run_cli({"import", source, "-o", file("a.png")}),
                 "[export] expected --format or an output file with the extension of a format, "
                 "received " +
                     file("a.png"),
                 2);
  expect_refused(run_cli({"import", file("a.h"), "-o", file("a.v")}),
                 "[read] " + file("a.h") +
                     ": expected netlist, verilog, blif, aiger, aag or html, received c, which is "
                     "only written");
  expect_refused(run_cli({"import", file("none.v"), "-o", file("a.blif")}),
                 "[read] cannot read " + file("none.v") + ": No such file or directory");
  expect_refused(run_cli({"import", source, "-o", file("a.v"), "--name", "module"}),
                 "[export] expected a name that is no keyword of C or Verilog, received 'module'");
  expect_refused(run_cli({"import", source, "-o", file("a.v"), "--valid"}),
                 "[export] expected --valid, --reset and --enable with --pipeline", 2);
  expect_refused(run_cli({"import", source, "-o", file("a.h"), "--flat-ports"}),
                 "[export] --flat-ports is for --format verilog, not for c", 2);
  // Files that ask for more than they have.
  const std::string aiger = written("a.aig", "aig 10000000 10000000 0 0 0\n");
  expect_refused(run_cli({"import", aiger, "-o", file("b.blif")}),
                 "[aiger] " + aiger +
                     ":1: expected at most 65536 inputs in a file of 28 bytes, received 10000000");
  const std::string wide = written("w.v", "module t(input [99999999:0] a);\nendmodule\n");
  expect_refused(
      run_cli({"import", wide, "-o", file("b.blif")}),
      "[verilog] " + wide +
          ":1: expected at most 65536 more bits of nets in a file of this size, received "
          "100000000");
  const std::string blif = written("b.blif", ".model t\n.inputs a\n.outputs y\n.names a y\n1 1\n");
  expect_refused(run_cli({"import", blif, "-o", file("c.blif")}),
                 "[blif] " + blif + ":5: expected a line '.end', received the end of the file");
}

TEST_F(CircuitCommands, OperandsAreBusPorts) {
  require_tool("iverilog", "iverilog");
  const std::string model = model_of("add", "model.safetensors", 3);
  ASSERT_EQ(run_cli({"export", model, "-o", file("a.v"), "--name", "adder"}).code, 0);
  EXPECT_NE(read_bytes(file("a.v"))
                .find("module adder (\n  input wire [1:0] a,\n  input wire [1:0] b,\n"
                      "  output wire [2:0] y\n);\n"),
            std::string::npos)
      << read_bytes(file("a.v"));
  ASSERT_EQ(run_cli({"export", model, "-o", file("b.v"), "--flat-ports"}).code, 0);
  EXPECT_NE(
      read_bytes(file("b.v"))
          .find("module circuit_add (\n  input wire [3:0] in,\n  output wire [2:0] out\n);\n"),
      std::string::npos);
  ASSERT_EQ(run_cli({"export", model, "-o", file("c.v"), "--pipeline", "1", "--valid", "--reset",
                     "--enable"})
                .code,
            0);
  for (const char* stem : {"a", "b", "c"}) {
    const ToolResult result =
        run_tool(fmt::format("cd {0} && iverilog -g2012 -o bench {1}.v {1}_tb.v && vvp -n bench",
                             scratch_.path().string(), stem));
    EXPECT_EQ(result.output, "PASS 16\n");
  }
}

TEST_F(CircuitCommands, TwoHeadersLiveInOneProgram) {
  require_tool("gcc", "gcc");
  const std::string first = model_of("add", "1.safetensors", 3, 1);
  const std::string second = model_of("add", "2.safetensors", 3, 2);
  ASSERT_EQ(run_cli({"export", first, "-o", file("one.h"), "--name", "one"}).code, 0);
  ASSERT_EQ(run_cli({"export", second, "-o", file("two.h"), "--name", "two"}).code, 0);
  write_bytes(file("main.c"),
              "#include \"one.h\"\n#include \"two.h\"\n#include \"one.h\"\nint main(void) {\n"
              "  uint64_t in[ONE_INPUTS] = {0}, out[ONE_OUTPUTS + TWO_OUTPUTS];\n"
              "  one_eval(in, out);\n  two_eval(in, out + ONE_OUTPUTS);\n  return 0;\n}\n");
  const ToolResult result = run_tool(
      fmt::format("cd {} && gcc -std=c99 -Wall -Wextra -Wpedantic -Werror main.c -o main && ./main",
                  scratch_.path().string()));
  EXPECT_EQ(result.code, 0) << result.output;
}

TEST_F(CircuitCommands, InspectReadsCircuits) {
  const std::string source = written("adder.v", full_adder);
  const CliResult result = run_cli({"inspect", source, "--passes", "--lut4", "--lut6", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("adder.v: 3 inputs, 2 outputs\n7 gates, depth 3\n"
                            "  2 inputs              7\n"),
            std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("\nas read"), std::string::npos);
  const json answer = result.json();
  EXPECT_EQ(answer["gates"], 7);
  EXPECT_EQ(answer["depth"], 3);
  EXPECT_EQ(answer["arities"]["2"], 7);
  EXPECT_EQ(answer["passes"].back()["gates"], 5);
  EXPECT_EQ(answer["lut4"]["tables"], 2);
  EXPECT_EQ(answer["lut6"]["tables"], 2);
}

TEST_F(CircuitCommands, EqualProvesEquality) {
  const std::string model = model_of("add", "model.safetensors", 3);
  ASSERT_EQ(run_cli({"export", model, "-o", file("a.v")}).code, 0);
  ASSERT_EQ(run_cli({"export", model, "-o", file("a.aig")}).code, 0);
  const CliResult result = run_cli({"equal", model, file("a.v"), "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with(
      fmt::format("{} and {} are equal: all input combinations simulated, ports by name\n", model,
                  file("a.v"))))
      << result.out;
  EXPECT_EQ(result.json()["equal"], true);
  EXPECT_EQ(result.json()["matched_by"], "name");
  EXPECT_EQ(result.json()["method"], "simulation");
  EXPECT_EQ(run_cli({"equal", file("a.v"), file("a.aig")}).code, 0);
  // Ports in another order are matched by name.
  const std::string one = written("1.v",
                                  "module t(input a, b, output y, z);\n"
                                  "assign y = a & ~b;\nassign z = a;\nendmodule\n");
  const std::string two = written("2.v",
                                  "module t(input b, a, output z, y);\n"
                                  "assign y = a & ~b;\nassign z = a;\nendmodule\n");
  EXPECT_EQ(run_cli({"equal", one, two}).code, 0);
  const std::string three = written("3.v",
                                    "module t(input p, q, output z, y);\n"
                                    "assign y = p;\nassign z = ~(~p | q);\nendmodule\n");
  const CliResult by_position = run_cli({"equal", one, three});
  EXPECT_EQ(by_position.code, 0);
  EXPECT_NE(by_position.out.find("ports by position"), std::string::npos);
}

TEST_F(CircuitCommands, EqualFindsDifferences) {
  const std::string one = written(
      "1.v", "module t(input [2:0] a, input b, output y);\nassign y = &a & b;\nendmodule\n");
  const std::string two = written(
      "2.v", "module t(input [2:0] a, input b, output y);\nassign y = &a & ~b;\nendmodule\n");
  const CliResult result = run_cli({"equal", one, two, "--json"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(result.out.starts_with(fmt::format(
      "{} and {} differ: y is 0 and 1 for a[2:0] = 111, b = 0 (ports by name)\n", one, two)))
      << result.out;
  const json found = result.json()["counterexample"];
  EXPECT_EQ(result.json()["equal"], false);
  EXPECT_EQ(found["inputs"], (json{{"a[0]", 1}, {"a[1]", 1}, {"a[2]", 1}, {"b", 0}}));
  EXPECT_EQ(found["output"], "y");
  EXPECT_EQ(found["values"], (std::vector<int>{0, 1}));
  const std::string three =
      written("3.v", "module t(input [2:0] a, output y);\nassign y = &a;\nendmodule\n");
  expect_refused(
      run_cli({"equal", one, three}),
      fmt::format("[equal] expected equal numbers of inputs and outputs, received 4 and 1 "
                  "in {}, 3 and 1 in {}",
                  one, three));
  EXPECT_EQ(run_cli({"equal", one}).code, 2);
}

TEST_F(CircuitCommands, SynthReportsTheSize) {
  require_tool("yosys", "yosys");
  const std::string source = written("adder.v", full_adder);
  const CliResult result =
      run_cli({"synth", source, "--target", "ice40", "--report", file("r.txt"), "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const json answer = result.json();
  EXPECT_EQ(answer["luts"], 2);
  EXPECT_EQ(answer["flip_flops"], 0);
  EXPECT_EQ(answer["depth"], 1);
  EXPECT_EQ(answer["cells"], (json{{"SB_LUT4", 2}}));
  EXPECT_TRUE(std::string(answer["yosys"]).starts_with("Yosys "));
  EXPECT_EQ(result.out.substr(0, result.out.find('{')), read_bytes(file("r.txt")));
  EXPECT_NE(result.out.find("  LUTs                    2\n"), std::string::npos) << result.out;
  for (const char* target : {"xc7", "ecp5", "generic"}) {
    const CliResult other = run_cli({"synth", source, "--target", target, "--json", "--quiet"});
    ASSERT_EQ(other.code, 0) << other.err;
    EXPECT_EQ(other.json()["luts"], 2) << target;
  }
  const CliResult gates = run_cli({"synth", source, "--target", "gates", "--json"});
  EXPECT_EQ(gates.json()["gates"], 5);
  const CliResult piped = run_cli({"synth", source, "--pipeline", "1", "--json"});
  EXPECT_GT(piped.json()["flip_flops"], 2);
  expect_refused(run_cli({"synth", source, "--thresholds"}),
                 "[synth] expected a classifier with thresholds, received a circuit of bits");
  EXPECT_EQ(run_cli({"synth", source, "--target", "vax"}).code, 2);
}

TEST_F(CircuitCommands, ALearnedMultiplierTakesFewLuts) {
  require_tool("yosys", "yosys");
  const std::string multiplier = BOOLGRAD_SOURCE_DIR "/tests/data/netlists/multiply.net";
  const CliResult result = run_cli({"synth", multiplier, "--target", "ice40", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_LE(result.json()["luts"], 36);
}

TEST_F(CircuitCommands, SynthNeedsYosys) {
  const std::string source = written("adder.v", full_adder);
  const std::string command =
      fmt::format("PATH=/nonexistent '{}' synth '{}'", BOOLGRAD_CLI, source);
  const ToolResult result = run_tool(command);
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.output,
            "boolgrad: [synth] cannot find yosys in PATH: install Yosys (apt install yosys)\n");
}

}  // namespace
}  // namespace boolgrad
