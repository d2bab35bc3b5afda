#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "boolgrad/automata/rule_netlist.h"
#include "boolgrad/circuit/formats/aiger.h"
#include "boolgrad/circuit/formats/blif.h"
#include "boolgrad/circuit/formats/text.h"
#include "boolgrad/circuit/harden.h"
#include "boolgrad/circuit/proof/equivalence.h"
#include "boolgrad/model/model.h"
#include "boolgrad/model/scenario.h"
#include "boolgrad/model/simulation.h"
#include "boolgrad/train/learners/initial_model.h"
#include "tests/cli/run_cli.h"
#include "tests/support/browser.h"
#include "tests/support/generated_data.h"
#include "tests/support/life_rule.h"
#include "tests/support/page_text.h"
#include "tests/support/tools.h"

namespace boolgrad {
namespace {

using nlohmann::json;
using testing_support::CliResult;
using testing_support::document_of;
using testing_support::dumped;
using testing_support::read_bytes;
using testing_support::require_browser;
using testing_support::require_tool;
using testing_support::run_cli;
using testing_support::run_tool;
using testing_support::ScratchFolder;
using testing_support::text_of;
using testing_support::ToolResult;
using testing_support::write_bytes;

const char* const life =
    "[task]\nkind = 'life'\n[automaton]\nheight = 6\nwidth = 6\nsteps = 1\nchannels = 1\n"
    "kernels = 1\nupdate = [8]\n";

class ExportTest : public testing::Test {
 protected:
  void SetUp() override {
    save_model(model_, train::to_toml(train::parse_experiment(life, "life", "life", "")),
               life_rule().to_file());
  }

  std::string file(const std::string& name) const { return (scratch_ / name).string(); }

  CliResult exported(const std::string& format, const std::string& name,
                     std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"export", model_, "--format", format, "-o", file(name), "--json"});
    return run_cli(more);
  }

  void expect_equal(const circuit::Netlist& written) const {
    EXPECT_FALSE(circuit::difference(harden(life_rule()), written).has_value());
  }

  /// Runs the test bench of an exported design.
  void expect_pass(const std::string& stem) const {
    require_tool("iverilog", "iverilog");
    const ToolResult result =
        run_tool(fmt::format("cd {0} && iverilog -g2012 -o bench {1}.v {1}_tb.v && vvp -n bench",
                             scratch_.path().string(), stem));
    EXPECT_EQ(result.code, 0) << result.output;
    EXPECT_TRUE(result.output.starts_with("PASS ")) << result.output;
  }

  ScratchFolder scratch_;
  std::string model_ = (scratch_ / "model.safetensors").string();
};

TEST_F(ExportTest, WritesFilesThatCanBeReadBack) {
  for (const auto& [format, name] : std::vector<std::pair<std::string, std::string>>{
           {"netlist", "a.net"}, {"blif", "a.blif"}, {"aiger", "a.aig"}, {"aiger", "a.aag"}}) {
    const CliResult result = exported(format, name);
    ASSERT_EQ(result.code, 0) << result.err;
    const json answer = result.json();
    EXPECT_EQ(answer["format"], format);
    EXPECT_EQ(answer["file"], file(name));
    EXPECT_EQ(answer["inputs"], 9);
    EXPECT_EQ(answer["outputs"], 1);
    EXPECT_EQ(answer["proven"], true);
    EXPECT_EQ(answer["read_back"], true);
    EXPECT_NE(result.out.find("proven equivalent to the model after reading it back"),
              std::string::npos);
  }
  expect_equal(circuit::netlist_from_text(read_bytes(file("a.net")), "a.net"));
  expect_equal(circuit::netlist_from_blif(read_bytes(file("a.blif")), "a.blif"));
  expect_equal(circuit::netlist_from_aiger(read_bytes(file("a.aig")), "a.aig"));
  expect_equal(circuit::netlist_from_aiger(read_bytes(file("a.aag")), "a.aag"));
  EXPECT_TRUE(read_bytes(file("a.aig")).starts_with("aig "));
  EXPECT_TRUE(read_bytes(file("a.aag")).starts_with("aag "));
}

TEST_F(ExportTest, CanSkipSimplification) {
  const CliResult result = exported("netlist", "a.net", {"--as-trained", "--no-proof"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json()["proven"], false);
  EXPECT_EQ(result.json()["gates"], result.json()["gates_before"]);
  circuit::Netlist original = harden(life_rule());
  original.name = "life";
  EXPECT_EQ(circuit::netlist_from_text(read_bytes(file("a.net")), "a.net"), original);
}

TEST_F(ExportTest, WritesVerilogWithItsTestBench) {
  const CliResult result = exported("verilog", "a.v");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json()["test_bench"], file("a_tb.v"));
  expect_pass("a");
  ASSERT_EQ(exported("verilog", "b.v", {"--pipeline", "2"}).code, 0);
  expect_pass("b");
  ASSERT_EQ(exported("verilog", "c.v", {"--size", "4x5"}).code, 0);
  expect_pass("c");
}

TEST_F(ExportTest, WritesCAndDot) {
  ASSERT_EQ(exported("c", "a.h").code, 0);
  EXPECT_NE(read_bytes(file("a.h")).find("life_step("), std::string::npos);
  ASSERT_EQ(exported("dot", "a.dot").code, 0);
  EXPECT_TRUE(read_bytes(file("a.dot")).starts_with("digraph \"life\""));
}

class ExportViewerTest : public ExportTest {
 protected:
  void SetUp() override {
    require_browser();
    ExportTest::SetUp();
  }
};

/// The final state of the simulator from the start of `boolgrad run`.
std::string simulated(const LoadedModel& loaded, std::int64_t height, std::int64_t width,
                      std::int64_t steps, const SimulationOptions& options) {
  const automata::Rule& rule = loaded.model.rule();
  const Tensor starts = starts_for(*loaded.spec, rule, 1, height, width, options.seed);
  Simulation simulation(rule, starts, options);
  simulation.step(steps);
  return state_text(simulation.state());
}

TEST_F(ExportViewerTest, RunsLife) {
  const CliResult result = exported("html", "a.html");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json()["read_back"], true);
  const LoadedModel model = load_model(model_);
  EXPECT_EQ(dumped(file("a.html"), "steps=50&dump"),
            simulated(model, 64, 64, 50, {.seed = fresh_seed(*model.spec)}));
  EXPECT_EQ(dumped(file("a.html"), "start=random&seed=3&size=32x40&steps=50&dump"),
            simulated(model, 32, 40, 50, {.seed = 3}));
}

TEST_F(ExportViewerTest, StartsRulesFromStatesThatExist) {
  const train::Experiment experiment = train::parse_experiment(
      "[task]\nkind = 'rule'\nrule = 'B2/S/3'\n[automaton]\nheight = 6\nwidth = 6\nsteps = 1\n"
      "channels = 2\nkernels = 1\nupdate = [8]\n",
      "brain", "brain", "");
  save_model(model_, train::to_toml(experiment), train::make_rule(experiment).to_file());
  ASSERT_EQ(exported("html", "a.html").code, 0);
  const LoadedModel model = load_model(model_);
  for (const int steps : {0, 7}) {
    EXPECT_EQ(dumped(file("a.html"), fmt::format("seed=5&size=20x31&steps={}&dump", steps)),
              simulated(model, 20, 31, steps, {.seed = 5}));
  }
}

TEST_F(ExportViewerTest, RunsACheckerboard) {
  const std::string out = file("run");
  ASSERT_EQ(run_cli({"train",   "checkerboard",
                     "--seed",  "3",
                     "--steps", "390",
                     "--set",   "automaton.kernels=4",
                     "--set",   "automaton.update=[64,64,64,32,16,8]",
                     "--set",   "automaton.height=8",
                     "--set",   "automaton.width=8",
                     "--set",   "automaton.steps=12",
                     "--set",   "automaton.evaluation_starts=8",
                     "--quiet", "--out",
                     out})
                .code,
            0);
  const std::string path = out + "/model.safetensors";
  const LoadedModel model = load_model(path);
  ASSERT_EQ(run_cli({"export", path, "--format", "html", "-o", file("a.html")}).code, 0);
  EXPECT_EQ(dumped(file("a.html"), "size=20x30&steps=50&dump"),
            simulated(model, 20, 30, 50, {.seed = fresh_seed(*model.spec)}));
  const Damage damage{{.top = 2, .left = 3, .height = 5, .width = 9}, 20, 20};
  EXPECT_EQ(
      dumped(file("a.html"), "seed=8&async=0.6&size=20x30&steps=50&damage=5x9+2+3@step20&dump"),
      simulated(model, 20, 30, 50, {.fire_rate = 0.6, .seed = 8, .damage = {damage}}));
}

TEST_F(ExportViewerTest, UsesTheSettingsOfTraining) {
  write_bytes(file("arrow.txt"), "r....\nrg...\nrgb..\nrgby.\n");
  const train::Experiment experiment = train::parse_experiment(
      "[task]\nkind = 'picture'\nfile = 'arrow.txt'\n[automaton]\nheight = 4\nwidth = 5\n"
      "steps = 4\nchannels = 4\nkernels = 1\nupdate = [12]\nstart = 'seed'\nfire_rate = 0.75\n"
      "[network]\ninit = 'gaussian'\nparametrisation = 'softmax16'",
      "arrow", "arrow", scratch_.path());
  save_model(model_, train::to_toml(experiment), train::make_rule(experiment).to_file());
  ASSERT_EQ(exported("html", "a.html").code, 0);
  const LoadedModel model = load_model(model_);
  const SimulationOptions options{.fire_rate = 0.75, .seed = fresh_seed(experiment)};
  const std::string document = document_of(file("a.html"), "steps=50&dump");
  EXPECT_EQ(text_of(document, "dump"), simulated(model, 4, 5, 50, options));
  EXPECT_NE(document.find("fire rate 0.75, trained for 4 steps"), std::string::npos);
  const CliResult run = run_cli({"run", model_, "--steps", "50", "--quiet", "--json"});
  EXPECT_EQ(text_of(document, "errors"),
            fmt::format("{} of 60 bits differ", run.json()["wrong_bits"].get<int>()));

  std::filesystem::remove(file("arrow.txt"));
  const CliResult without = exported("html", "b.html");
  EXPECT_EQ(without.code, 0) << without.err;
  EXPECT_NE(without.out.find("\n  no target: [bitmap] "), std::string::npos) << without.out;
}

TEST_F(ExportViewerTest, EvaluatesACircuit) {
  const train::Experiment experiment = train::parse_experiment(
      "[task]\nkind = 'add'\nbits = 4\n[network]\nhidden = [12]", "add", "add", "");
  const logic::Network network = train::make_network(experiment, 4, 3);
  save_model(model_, train::to_toml(experiment), network.to_file());
  ASSERT_EQ(exported("html", "a.html").code, 0);
  const std::string document = document_of(file("a.html"), "inputs=1011&dump");
  EXPECT_EQ(text_of(document, "dump"), table_text(circuit::harden(network)));
  EXPECT_NE(document.find("<b>a + b</b>"), std::string::npos);
  EXPECT_NE(document.find("aria-label=\"b as a number\""), std::string::npos);
}

TEST_F(ExportTest, NeverWritesMoreTablesThanTheModelHas) {
  // Eleven tables, which can be reduced to nine, would be 26 two-input gates.
  for (const std::string format : {"netlist", "blif", "dot"}) {
    EXPECT_EQ(exported(format, "a").json()["gates"], 9) << format;
  }
  for (const std::string format : {"c", "verilog", "aiger"}) {
    EXPECT_EQ(exported(format, "a").json()["gates"], 26) << format;
  }
}

TEST_F(ExportTest, WritesClasses) {
  logic::Network network(6, Parametrisation::sigmoid, DType::float32);
  const auto wire = [](unsigned bits) { return (bits & 1) != 0; };
  add_gates(network, {{{0, 1}, wire},
                      {{1, 2}, wire},
                      {{2, 3}, wire},
                      {{3, 4}, wire},
                      {{4, 5}, wire},
                      {{5, 0}, wire}});
  save_safetensors(model_, network.to_file());
  const CliResult result = exported("blif", "a.blif", {"--classes", "3"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json()["proven"], true);
  const circuit::Netlist written = circuit::netlist_from_blif(read_bytes(file("a.blif")), "a.blif");
  EXPECT_EQ(written.outputs, (std::vector<std::string>{"class_0", "class_1"}));
  // Sums of pairs of inputs: 1 0 2, 1 2 2 and 0 0 0.
  const std::vector<std::uint64_t> words{0b011, 0b000, 0b010, 0b010, 0b011, 0b011};
  EXPECT_EQ(evaluate(written, words)[0] & 0b111, 0b010U);
  EXPECT_EQ(evaluate(written, words)[1] & 0b111, 0b001U);
  ASSERT_EQ(exported("c", "a.h", {"--classes", "2"}).code, 0);
  EXPECT_NE(read_bytes(file("a.h")).find("#define CIRCUIT_OUTPUTS 1"), std::string::npos);
  const CliResult refused = exported("c", "b.h", {"--classes", "4"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.complaint(),
            "[group_sums] expected at least 2 classes that divide 6 outputs, received 4");
}

TEST_F(ExportTest, WritesNetworks) {
  logic::Network network(3, Parametrisation::sigmoid, DType::float32);
  add_gates(network, {{{0, 1}, [](unsigned bits) { return bits == 3; }},
                      {{1, 2}, [](unsigned bits) { return bits != 0; }}});
  save_safetensors(model_, network.to_file());
  ASSERT_EQ(exported("blif", "a.blif").code, 0);
  const circuit::Netlist written = circuit::netlist_from_blif(read_bytes(file("a.blif")), "a.blif");
  EXPECT_EQ(written.name, "circuit");
  EXPECT_FALSE(circuit::difference(circuit::harden(network), written).has_value());
  const CliResult array = exported("verilog", "a.v", {"--size", "4x4"});
  EXPECT_EQ(array.code, 1);
  EXPECT_EQ(array.complaint(),
            "[verilog] expected the rule of an automaton for an array, received none");
}

class ExportSharedKernels : public ExportTest {
 protected:
  /// A small classifier of generated digits.
  void SetUp() override {
    require_tool("gcc", "gcc");
    testing_support::write_digits(scratch_.path(), 130);
    const CliResult trained = run_cli({"train",    "mnist-conv-s",
                                       "--data",   scratch_.path().string(),
                                       "--steps",  "20",
                                       "--set",    "convolution.kernels=[4,6]",
                                       "--set",    "convolution.window=[5,3]",
                                       "--set",    "convolution.padding=[0,1]",
                                       "--set",    "convolution.pool=[1,2]",
                                       "--set",    "network.hidden=[200]",
                                       "--set",    "head.outputs=100",
                                       "--quiet",  "--out",
                                       file("run")});
    ASSERT_EQ(trained.code, 0) << trained.err;
    model_ = file("run/model.safetensors");
  }

  /// The classes that an exported C file gives for images as in training.
  std::string classes_of(const std::string& name) const {
    write_bytes(scratch_ / "main.c", "#include \"" + name + R"("
#include <stdio.h>
int main(void)
{
  static uint8_t x[500 * MNIST_CONV_S_FEATURES];
  static int32_t classes[500];
  uint32_t bits = 1;
  size_t i;
  for (i = 0; i < sizeof x; ++i) {
    const int is_bar = i / 28 % 28 / 2 == i / 784 % 10 + 2;
    bits = bits * 1664525 + 1013904223;
    x[i] = (uint8_t)(is_bar ? 255 - (bits >> 26) : (bits >> 24) % 200);
  }
  mnist_conv_s_classify(x, 500, classes);
  for (i = 0; i < 500; ++i) printf("%d\n", (int)classes[i]);
  return 0;
}
)");
    const ToolResult result = run_tool(
        fmt::format("cd {} && gcc -std=c99 -O1 -Wall -Wextra -Wpedantic -Werror main.c -o main && "
                    "./main",
                    scratch_.path().string()));
    EXPECT_EQ(result.code, 0) << result.output;
    return result.output;
  }
};

TEST_F(ExportSharedKernels, WritesC) {
  const CliResult result = exported("c", "shared.h", {"--shared-kernels"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json()["kernels"], (std::vector<int>{4, 6}));
  EXPECT_EQ(result.json()["proven"], true);
  EXPECT_EQ(result.json()["inputs"], 28 * 28);
  EXPECT_NE(result.out.find("\n  4 + 6 kernels shared: "), std::string::npos) << result.out;
  ASSERT_EQ(exported("c", "flat.h").code, 0);
  const std::string classes = classes_of("shared.h");
  EXPECT_EQ(classes, classes_of("flat.h"));
  EXPECT_GT(std::set<char>(classes.begin(), classes.end()).size(), 5U) << classes;
}

TEST_F(ExportSharedKernels, WritesVerilogWithItsTestBench) {
  const CliResult result = exported("verilog", "a.v", {"--shared-kernels", "--as-trained"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json()["kernels"], (std::vector<int>{4, 6}));
  EXPECT_NE(read_bytes(file("a.v")).find("module circuit_mnist_conv_s_classifier"),
            std::string::npos);
  expect_pass("a");
  ASSERT_EQ(exported("verilog", "b.v", {"--shared-kernels", "--classes", "10"}).code, 0);
  expect_pass("b");
}

/// A classifier of one layer of six-input tables, and what its export is for.
class ExportTargets : public ExportTest {
 protected:
  /// Trains for a few steps. Returns the run.
  std::string trained(std::int64_t outputs) const {
    testing_support::write_digits(scratch_.path(), 100);
    write_bytes(file("six.toml"),
                fmt::format("[task]\nkind = 'idx'\n[data]\nvalidation = 0.1\n[binarise]\n"
                            "kind = 'threshold'\n[network]\nparametrisation = 'sigmoid'\n"
                            "arity = 6\n[head]\nkind = 'classes'\noutputs = {}\n"
                            "[training]\nsteps = 3\nbatch = 20\n",
                            outputs));
    const CliResult result = run_cli({"train", file("six.toml"), "--data", scratch_.path().string(),
                                      "--out", file("run"), "--threads", "2"});
    EXPECT_EQ(result.code, 0) << result.err;
    return file("run");
  }

  json written(const std::string& model, const std::string& target, const std::string& name) const {
    const CliResult result =
        run_cli({"export", model, "--target", target, "-o", file(name), "--json"});
    EXPECT_EQ(result.code, 0) << result.err;
    return result.json();
  }
};

TEST_F(ExportTargets, WritesTablesAsTables) {
  const std::string model = trained(60);
  const json six = written(model, "lut6", "six.blif");
  EXPECT_EQ(six["target"], "lut6");
  EXPECT_EQ(six["proven"], true);
  EXPECT_EQ(six["read_back"], true);
  const circuit::Netlist netlist = circuit::netlist_from_blif(read_bytes(file("six.blif")), "six");
  EXPECT_TRUE(std::ranges::any_of(netlist.gates, [](const auto& gate) { return gate.arity == 6; }));
  for (const circuit::NetlistGate& gate :
       circuit::netlist_from_blif(
           (written(model, "lut4", "four.blif"), read_bytes(file("four.blif"))), "four")
           .gates) {
    EXPECT_LE(gate.arity, 4);
  }
  for (const circuit::NetlistGate& gate :
       circuit::netlist_from_blif(
           (written(model, "gates", "two.blif"), read_bytes(file("two.blif"))), "two")
           .gates) {
    EXPECT_LE(gate.arity, 2);
  }
  EXPECT_EQ(written(model, "cells", "cells.blif")["proven"], true);
  // All are the same function. That of four-input tables has another structure.
  for (const char* name : {"two.blif", "cells.blif", "four.blif"}) {
    EXPECT_EQ(run_cli({"equal", file("six.blif"), file(name)}).code, 0) << name;
  }
}

TEST_F(ExportTargets, HaveTheClassesThatAreAskedFor) {
  // Twelve wires in three groups.
  std::string text = ".model wires\n.inputs";
  for (int i = 0; i < 12; ++i) text += fmt::format(" x{}", i);
  text += "\n.outputs";
  for (int i = 0; i < 12; ++i) text += fmt::format(" y{}", i);
  for (int i = 0; i < 12; ++i) text += fmt::format("\n.names x{0} y{0}\n1 1", i);
  write_bytes(file("wires.blif"), text + "\n.end\n");
  ASSERT_EQ(
      run_cli({"import", file("wires.blif"), "--classes", "3", "-o", file("plain.blif")}).code, 0);
  for (const char* target : {"lut6", "lut4", "gates", "cells"}) {
    const CliResult result = run_cli({"import", file("wires.blif"), "--classes", "3", "--target",
                                      target, "-o", file("target.blif")});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(run_cli({"equal", file("plain.blif"), file("target.blif")}).code, 0) << target;
  }
}

TEST_F(ExportTargets, WritesVerilogThatPassesItsTestBench) {
  const std::string model = trained(40);
  for (const char* target : {"lut6", "lut4", "gates", "cells"}) {
    const std::string stem = std::string("design_") + target;
    written(model, target, stem + ".v");
    expect_pass(stem);
    EXPECT_EQ(read_bytes(file(stem + ".v")).find(" >> {") != std::string::npos,
              std::string(target).starts_with("lut"))
        << target;
  }
  const CliResult piped =
      run_cli({"export", model, "--target", "lut6", "--pipeline", "1", "-o", file("piped.v")});
  EXPECT_EQ(piped.code, 0) << piped.err;
  expect_pass("piped");
}

TEST_F(ExportTargets, TakesOneLutPerTableInYosys) {
  if (run_tool("command -v yosys").code != 0) GTEST_SKIP() << "yosys is not installed";
  // Two layers of tables that depend on all of their six inputs.
  constexpr circuit::Net inputs = 40;
  constexpr circuit::Net width = 30;
  circuit::Netlist netlist;
  netlist.name = "six";
  for (circuit::Net i = 0; i < inputs; ++i) netlist.inputs.push_back(fmt::format("x{}", i));
  for (circuit::Net g = 0; g < 2 * width; ++g) {
    circuit::NetlistGate gate{.truth = 0x9E3779B97F4A7C15 * (2 * g + 1), .arity = 6};
    for (circuit::Net j = 0; j < 6; ++j) {
      gate.inputs[j] = g < width ? (5 * g + 7 * j) % inputs : inputs + (g + 5 * j) % width;
    }
    netlist.gates.push_back(gate);
  }
  for (circuit::Net o = 0; o < width; ++o) {
    netlist.outputs.push_back(fmt::format("y{}", o));
    netlist.output_nets.push_back(netlist.gate(width + o));
  }
  write_bytes(file("six.blif"), circuit::to_blif(circuit::checked(std::move(netlist))));
  const CliResult exported =
      run_cli({"import", file("six.blif"), "--target", "lut6", "-o", file("six.v"), "--json"});
  ASSERT_EQ(exported.code, 0) << exported.err;
  EXPECT_LE(exported.json()["gates"], 2 * width);
  const ToolResult result = run_tool(fmt::format(
      "cd {} && yosys -q -p 'read_verilog six.v; synth_xilinx -family xc7 -flatten -noiopad "
      "-noclkbuf -nodsp -top circuit_six; tee -q -o stat.json stat -json'",
      scratch_.path().string()));
  ASSERT_EQ(result.code, 0) << result.output;
  const json stat = json::parse(read_bytes(file("stat.json")));
  std::int64_t luts = 0;
  for (const auto& [type, count] : stat["design"]["num_cells_by_type"].items()) {
    if (type.starts_with("LUT")) luts += count.get<std::int64_t>();
  }
  EXPECT_GT(luts, 0);
  EXPECT_LE(luts, exported.json()["gates"].get<std::int64_t>());
}

TEST_F(ExportTargets, RefusesWhatATargetDoesNotHave) {
  const auto refusal = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"export", model_, "-o", file("x")});
    const CliResult result = run_cli(more);
    EXPECT_EQ(result.code, 2);
    return result.complaint();
  };
  EXPECT_EQ(refusal({"--format", "html", "--target", "lut6"}),
            "[export] --target is for --format netlist, c, verilog, blif and dot, not for html");
  EXPECT_EQ(refusal({"--format", "blif", "--target", "lut6", "--as-trained"}),
            "[export] expected --target or --as-trained, received both");
  EXPECT_EQ(refusal({"--format", "c", "--target", "lut6", "--shared-kernels"}),
            "[export] expected --target or --shared-kernels, received both");
  EXPECT_EQ(run_cli({"export", model_, "-o", file("x.v"), "--target", "vax"}).code, 2);
}

TEST_F(ExportTest, ReportsErrors) {
  const auto refuses = [&](const std::vector<std::string>& more, const std::string& format,
                           const std::string& message) {
    const CliResult result = exported(format, "a", more);
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.complaint(), message);
    EXPECT_FALSE(std::filesystem::exists(file("a")));
  };
  refuses({"--pipeline", "2"}, "c",
          "[export] --pipeline and --size are for --format verilog, not for c");
  refuses({"--pipeline", "2", "--size", "4x4"}, "verilog",
          "[export] expected --pipeline or --size, received both");
  refuses({"--pipeline", "0"}, "verilog", "[export] expected --pipeline of at least 1, received 0");
  refuses({"--size", "4"}, "verilog",
          "[export] expected --size HEIGHTxWIDTH in cells, such as 16x16, received '4'");
  EXPECT_EQ(exported("vhdl", "a").code, 2);
  refuses({"--size", "4x4"}, "html",
          "[export] --pipeline and --size are for --format verilog, not for html");
  refuses({"--shared-kernels"}, "blif",
          "[export] --shared-kernels is for --format c and verilog, not for blif");
  refuses({"--shared-kernels", "--pipeline", "2"}, "verilog",
          "[export] expected --shared-kernels without --pipeline and --size");
  refuses({"--shared-kernels", "--size", "4x4"}, "verilog",
          "[export] expected --shared-kernels without --pipeline and --size");
  refuses({"--shared-kernels"}, "c",
          "[export] --shared-kernels is for models that begin with convolutions, not for life");
  const CliResult nowhere = exported("c", "none/a.h");
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_EQ(nowhere.complaint(),
            "[export] cannot create " + file("none/a.h") + ": No such file or directory");
}

}  // namespace
}  // namespace boolgrad
