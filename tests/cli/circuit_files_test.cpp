// Circuits of files in place of models: predictions, evaluation, training and standard cells.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "boolgrad/circuit/formats/netlist_files.h"
#include "boolgrad/circuit/netlist.h"
#include "boolgrad/circuit/proof/equivalence.h"
#include "tests/cli/run_cli.h"
#include "tests/support/npy_file.h"
#include "tests/support/tools.h"

namespace boolgrad {
namespace {

using nlohmann::json;
using testing_support::CliResult;
using testing_support::npy;
using testing_support::read_bytes;
using testing_support::require_tool;
using testing_support::run_cli;
using testing_support::run_tool;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

class CircuitFiles : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return (scratch_ / name).string(); }

  std::string written(const std::string& name, const std::string& content) const {
    write_bytes(file(name), content);
    return file(name);
  }

  /// A ripple-carry adder of two numbers of `bits` bits, as a user may write it.
  std::string adder(const std::string& name, int bits) const {
    std::string text = fmt::format(
        "module adder(b, a, y);\n  input [{0}:0] b, a;\n  output [{1}:0] y;\n  wire [{1}:0] c;\n"
        "  assign c[0] = 1'b0;\n",
        bits - 1, bits);
    for (int i = 0; i < bits; ++i) {
      text += fmt::format(
          "  assign y[{0}] = a[{0}] ^ b[{0}] ^ c[{0}];\n"
          "  assign c[{1}] = (a[{0}] & b[{0}]) | (c[{0}] & (a[{0}] ^ b[{0}]));\n",
          i, i + 1);
    }
    return written(name, text + fmt::format("  assign y[{0}] = c[{0}];\nendmodule\n", bits));
  }

  /// The multiplier of 4 x 4 bits that the tests pin, in two-input gates.
  std::string multiplier(const std::string& name) const {
    const std::string learned = BOOLGRAD_SOURCE_DIR "/tests/data/netlists/multiply.net";
    const CliResult result = run_cli({"import", learned, "-o", file(name), "--quiet"});
    EXPECT_EQ(result.code, 0) << result.err;
    return file(name);
  }

  static void expect_refused(const CliResult& result, const std::string& message, int code = 1) {
    EXPECT_EQ(result.code, code);
    EXPECT_EQ(result.complaint(), message);
    EXPECT_EQ(result.out, "");
  }

  ScratchFolder scratch_;
};

// ---------------------------------------------------------------------------------------------
// predict

TEST_F(CircuitFiles, PredictReadsNumbersAndBits) {
  const std::string circuit = adder("adder.v", 4);
  const CliResult named = run_cli(
      {"predict", circuit, "--data", written("1.csv", "id,a,b\n7,3,5\n8,15,0xf\n"), "--json"});
  ASSERT_EQ(named.code, 0) << named.err;
  EXPECT_TRUE(named.out.starts_with("line,y\n2,8\n3,30\n{")) << named.out;
  EXPECT_EQ(named.json()["outputs"], (json{{"y", {8, 30}}}));
  EXPECT_EQ(named.json()["samples"], 2);
  // Without names, in the order of the circuit's ports: b first.
  const CliResult plain =
      run_cli({"predict", circuit, "--data", written("2.csv", "0b0001,2\n"), "--bits"});
  EXPECT_EQ(plain.out, "line,y[0],y[1],y[2],y[3],y[4]\n1,1,1,0,0,0\n") << plain.err;
  const CliResult bits = run_cli(
      {"predict", circuit, "--data", written("3.csv", "1;0;0;0;0;1;0;0\n0;0;0;0;0;0;0;0\n")});
  EXPECT_EQ(bits.out, "line,y\n1,3\n2,0\n") << bits.err;
  const CliResult mixed = run_cli(
      {"predict", circuit, "--data", written("4.csv", "b,a[3],a[2],a[1],a[0]\n1,1,0,0,0\n")});
  EXPECT_EQ(mixed.out, "line,y\n2,9\n") << mixed.err;
  const auto piped = run_tool(
      fmt::format("printf 'a,b\\n1,1\\n' | '{}' predict '{}' --data -", BOOLGRAD_CLI, circuit));
  EXPECT_EQ(piped.output, "line,y\n2,2\n");
}

TEST_F(CircuitFiles, PredictReadsArrays) {
  const std::string circuit = adder("adder.v", 2);
  write_bytes(file("ports.npy"), npy("|u1", "(2, 2)", std::string("\1\2\3\3", 4)));
  EXPECT_EQ(run_cli({"predict", circuit, "--data", file("ports.npy")}).out, "row,y\n0,3\n1,6\n");
  write_bytes(file("bits.npy"), npy("|u1", "(1, 4)", std::string("\1\1\0\1", 4)));
  EXPECT_EQ(run_cli({"predict", circuit, "--data", file("bits.npy")}).out, "row,y\n0,5\n");
  write_bytes(file("wrong.npy"), npy("|u1", "(1, 3)", std::string("\1\1\0", 3)));
  expect_refused(run_cli({"predict", circuit, "--data", file("wrong.npy")}),
                 fmt::format("[predict] {}: expected 2 columns, one per port, or 4, one per bit, "
                             "received 3",
                             file("wrong.npy")));
  write_bytes(file("flat.npy"), npy("|u1", "(4,)", std::string("\1\1\0\1", 4)));
  expect_refused(run_cli({"predict", circuit, "--data", file("flat.npy")}),
                 fmt::format("[predict] {}: expected an array [rows, columns], received [4]",
                             file("flat.npy")));
}

TEST_F(CircuitFiles, PredictHandlesWidePorts) {
  std::string text = "module t(input [69:0] a, output [69:0] y, output z);\n";
  text += "assign y = ~a;\nassign z = a[69];\nendmodule\n";
  const std::string circuit = written("wide.v", text);
  const CliResult result = run_cli(
      {"predict", circuit, "--data", written("1.csv", "a\n0x200000000000000000\n7\n"), "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(
      result.out.starts_with("line,y,z\n2,0x1fffffffffffffffff,1\n3,0x3ffffffffffffffff8,0\n"))
      << result.out;
  EXPECT_EQ(result.json()["outputs"]["y"][0], "0x1fffffffffffffffff");
  const CliResult large =
      run_cli({"predict", circuit, "--data", written("2.csv", "a\n0x400000000000000000\n")});
  EXPECT_EQ(large.code, 1);
  EXPECT_NE(large.err.find("expected a number of 70 bits, such as 0x1f in column 'a', received "
                           "'0x400000000000000000'"),
            std::string::npos)
      << large.err;
}

TEST_F(CircuitFiles, PredictReadsModelsOfCircuits) {
  const std::string run = file("run");
  ASSERT_EQ(run_cli({"train", "add", "--seed", "2", "--out", run, "--quiet"}).code, 0);
  const CliResult result =
      run_cli({"predict", run, "--data", written("1.csv", "a,b\n9,9\n15,1\n")});
  EXPECT_EQ(result.out, "line,y\n2,18\n3,16\n") << result.err;
}

TEST_F(CircuitFiles, PredictRefusesWhatIsNoInput) {
  const std::string circuit = adder("adder.v", 4);
  const std::string rows = written("1.csv", "a,b\n1,16\n1\n1,x\n1,\"2\n2,2\n");
  const CliResult refused = run_cli({"predict", circuit, "--data", rows});
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.out, "");
  EXPECT_EQ(refused.err,
            fmt::format("note: line 2 cannot be used: expected a number from 0 to 15 in column "
                        "'b', received '16'\n"
                        "note: line 3 cannot be used: expected 2 columns, received 1\n"
                        "note: line 4 cannot be used: expected a number from 0 to 15 in column "
                        "'b', received 'x'\n"
                        "note: line 5 cannot be used: missing closing quote\n"
                        "boolgrad: [predict] {}: 4 of 5 samples cannot be used; --skip-bad-rows "
                        "predicts the others\n",
                        rows));
  const CliResult rest =
      run_cli({"predict", circuit, "--data", rows, "--skip-bad-rows", "-o", file("o.csv")});
  EXPECT_EQ(rest.out, fmt::format("{}: 1 predictions, 4 left out\n", file("o.csv")));
  EXPECT_EQ(read_bytes(file("o.csv")), "line,y\n6,4\n");
  const std::string names = written("2.csv", "a,c\n1,1\n");
  expect_refused(run_cli({"predict", circuit, "--data", names}),
                 fmt::format("[predict] {}: expected a column 'b', received a, c", names));
  expect_refused(run_cli({"predict", circuit, "--data", written("3.csv", "1,2,3\n")}),
                 fmt::format("[predict] {}: expected 2 columns, one per port, or 8, one per bit, "
                             "received 3",
                             file("3.csv")));
  expect_refused(run_cli({"predict", circuit, "--data", written("4.csv", "")}),
                 fmt::format("[predict] {}: no sample can be used; the first reason: the file has "
                             "none",
                             file("4.csv")));
  expect_refused(
      run_cli({"predict", circuit, "--data", file("none.csv")}),
      fmt::format("[predict] cannot read {}: No such file or directory", file("none.csv")));
  expect_refused(run_cli({"predict", circuit, "--data", rows, "--top", "2"}),
                 "[predict] --top and --scores are for classifiers, not for circuits", 2);
  circuit::Netlist rule;
  for (int i = 0; i < 9; ++i) rule.inputs.push_back(fmt::format("n{}", i));
  rule.outputs = {"next"};
  rule.output_nets = {4};
  rule.state = circuit::NetlistState{.channels = 1};
  circuit::write_netlist(circuit::checked(rule), file("rule.net"));
  expect_refused(
      run_cli({"predict", file("rule.net"), "--data", rows}),
      fmt::format("[predict] {}: expected a classifier or a circuit, received an automaton "
                  "(see boolgrad run)",
                  file("rule.net")));
}

// ---------------------------------------------------------------------------------------------
// eval

TEST_F(CircuitFiles, EvalTriesAllCasesOfATask) {
  const std::string circuit = adder("adder.v", 5);
  const CliResult result = run_cli({"eval", circuit, "--task", "add", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with(
      fmt::format("{} on 1024 cases of add, ports by name\n"
                  "  0 bit errors, accuracy 100.00 % of cases, 100.00 % of bits\n"
                  "  27 gates, depth 9\n",
                  circuit)))
      << result.out;
  EXPECT_EQ(result.json()["hard_accuracy"], 1);
  EXPECT_EQ(result.json()["matched_by"], "name");
  std::string text = read_bytes(circuit);
  text.replace(text.find("a[1] ^ b[1]"), 11, "a[1] | b[1]");
  const CliResult wrong = run_cli({"eval", written("wrong.v", text), "--task", "add", "--json"});
  ASSERT_EQ(wrong.code, 0) << wrong.err;
  EXPECT_NE(wrong.out.find("\n  256 bit errors, accuracy 75.00 % of cases, 95.83 % of bits\n"
                           "  first error: y[1] is 1, expected 0, for a[4:0] = 00011, "
                           "b[4:0] = 00001\n"),
            std::string::npos)
      << wrong.out;
  EXPECT_EQ(wrong.json()["first_error"]["output"], "y[1]");
  EXPECT_EQ(wrong.json()["first_error"]["inputs"]["a[1]"], 1);
  // Other names are matched by position, the number b first.
  std::string renamed = read_bytes(circuit);
  for (std::size_t at = renamed.find('y'); at != std::string::npos; at = renamed.find('y', at)) {
    renamed[at] = 's';
  }
  EXPECT_EQ(
      run_cli({"eval", written("s.v", renamed), "--task", "add", "--json"}).json()["matched_by"],
      "position");
}

TEST_F(CircuitFiles, EvalRefusesWhatDoesNotFit) {
  const std::string circuit = adder("adder.v", 4);
  expect_refused(run_cli({"eval", circuit}),
                 fmt::format("[eval] {} is a circuit: expected --task EXPERIMENT, such as add, "
                             "received none",
                             circuit),
                 2);
  expect_refused(run_cli({"eval", circuit, "--task", "multiply"}),
                 fmt::format("[eval] {}: expected 8 inputs and 8 outputs for multiply, received 8 "
                             "and 5",
                             circuit));
  expect_refused(
      run_cli({"eval", circuit, "--task", "life"}),
      fmt::format("[eval] {}: expected the experiment of a circuit, received life", circuit));
  expect_refused(run_cli({"eval", circuit, "--task", "add", "--compiled"}),
                 fmt::format("[eval] --starts, --data, --confusion, --compiled, --simulated and "
                             "--no-simplify are for models, not for the circuit {}",
                             circuit),
                 2);
  expect_refused(
      run_cli({"eval", file("run"), "--task", "add"}),
      fmt::format("[eval] --task is for the file of a circuit, not for the model {}", file("run")),
      2);
  for (const char* command : {"run", "explain"}) {
    const CliResult result = run_cli({command, circuit});
    EXPECT_EQ(result.complaint(),
              fmt::format("[load] {}: expected a model or the folder of a run, received a circuit",
                          circuit));
  }
}

// ---------------------------------------------------------------------------------------------
// train --init

TEST_F(CircuitFiles, TrainRepairsACircuit) {
  const std::string right = multiplier("right.blif");
  const CliResult solved =
      run_cli({"train", "multiply", "--init", right, "--out", file("right"), "--json"});
  ASSERT_EQ(solved.code, 0) << solved.err;
  EXPECT_EQ(solved.json()["steps"], 0);
  EXPECT_EQ(solved.json()["hard_accuracy"], 1);
  EXPECT_LT(solved.json()["soft_loss"].get<double>() / (256 * 8), 0.002);  // per bit
  EXPECT_NE(solved.err.find("right.blif: network.hidden grows from [512, 256, 128, 32] to ["),
            std::string::npos)
      << solved.err;
  // One table changed.
  circuit::Netlist damaged = circuit::read_netlist(right);
  damaged.gates.at(20).truth ^= 0b0100;
  circuit::write_netlist(circuit::checked(damaged), file("wrong.net"));
  EXPECT_TRUE(circuit::difference(damaged, circuit::read_netlist(right)));
  const CliResult repaired = run_cli({"train", "multiply", "--init", file("wrong.net"), "--set",
                                      "network.hidden=[64]", "--out", file("none")});
  EXPECT_EQ(repaired.code, 1);
  EXPECT_TRUE(repaired.complaint().starts_with(
      fmt::format("[init] {}: expected network.hidden of at least [", file("wrong.net"))))
      << repaired.err;
  const CliResult result =
      run_cli({"train", "multiply", "--init", file("wrong.net"), "--out", file("fixed"), "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json()["hard_accuracy"], 1);
  EXPECT_GT(result.json()["steps"], 0);
  EXPECT_LE(result.json()["steps"], 100);
  EXPECT_EQ(run_cli({"equal", file("fixed"), right}).code, 0);
}

TEST_F(CircuitFiles, TrainResumesWithoutTheCircuit) {
  const std::string circuit = adder("adder.v", 4);
  const std::vector<std::string> words = {"train",   "add",   "--init",
                                          circuit,   "--set", "training.stop_when_solved=false",
                                          "--quiet", "--out"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  ASSERT_EQ(run_cli(with({file("whole"), "--steps", "30"})).code, 0);
  ASSERT_EQ(run_cli(with({file("half"), "--steps", "12"})).code, 0);
  std::filesystem::remove(circuit);
  const CliResult resumed =
      run_cli({"train", "--resume", file("half"), "--steps", "30", "--quiet"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(read_bytes(file("half/model.safetensors")) ==
              read_bytes(file("whole/model.safetensors")));
  EXPECT_NE(read_bytes(file("half/model.safetensors")).find(circuit), std::string::npos)
      << "settings name the file";
}

TEST_F(CircuitFiles, TrainRefusesCircuitsThatDoNotFit) {
  const std::string circuit = adder("adder.v", 4);
  expect_refused(run_cli({"train", "multiply", "--init", circuit, "--quiet", "--out", file("run")}),
                 fmt::format("[init] {}: expected a circuit of 8 inputs and 8 outputs for "
                             "multiply, received 8 and 5",
                             circuit));
  EXPECT_FALSE(std::filesystem::exists(file("run")));
  expect_refused(run_cli({"train", "checkerboard", "--init", circuit}),
                 "[train] --init is for circuits and classifiers, not for checkerboard", 2);
  expect_refused(
      run_cli({"train", "add", "--init", file("none.blif")}),
      fmt::format("[read] cannot read {}: No such file or directory", file("none.blif")));
  const std::string broken = written("broken.blif", ".model t\n.inputs a\n");
  expect_refused(
      run_cli({"train", "add", "--init", broken}),
      fmt::format("[blif] {}:2: expected a line '.end', received the end of the file", broken));
}

// ---------------------------------------------------------------------------------------------
// Standard cells

TEST_F(CircuitFiles, SynthEstimatesTheAreaOfStandardCells) {
  require_tool("yosys", "yosys");
  // A circuit that is called as a cell is.
  const std::string majority =
      written("maj3.v",
              "module maj3(input a, b, c, output y, input d, e, output z);\n"
              "assign y = (a & b) | (a & c) | (b & c);\nassign z = ~(d & e);\nendmodule\n");
  const CliResult result =
      run_cli({"synth", majority, "--target", "sky130-like", "--report", file("r"), "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const json answer = result.json();
  EXPECT_EQ(answer["cells"], (json{{"maj3", 1}, {"nand2", 1}}));
  EXPECT_NEAR(answer["area"].get<double>(), 3.67, 1e-9);
  EXPECT_EQ(answer["gates"], 2);
  EXPECT_EQ(answer["flip_flops"], 0);
  EXPECT_EQ(answer["depth"], 1);
  EXPECT_NE(result.out.find("  area                 3.67 GE\n"
                            "  gates                   2\n"
                            "  flip-flops              0\n"),
            std::string::npos)
      << result.out;
  const CliResult piped = run_cli(
      {"synth", majority, "--target", "sky130-like", "--pipeline", "1", "--json", "--quiet"});
  ASSERT_EQ(piped.code, 0) << piped.err;
  const json registers = piped.json();
  EXPECT_GT(registers["flip_flops"], 2);
  double area = 5.33 * registers["flip_flops"].get<double>();
  for (const auto& [cell, number] : registers["cells"].items()) {
    EXPECT_TRUE(!cell.starts_with("$") || cell == "$_DFF_P_") << cell;
    if (cell == "nand2" || cell == "inv" || cell == "nor2") area += number.get<double>();
  }
  EXPECT_GE(registers["area"].get<double>(), area - 1e-9);
}

}  // namespace
}  // namespace boolgrad
