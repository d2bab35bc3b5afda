// Training that starts from a circuit.
#include "boolgrad/train/experiment/initial_circuit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "boolgrad/circuit/formats/netlist_files.h"
#include "boolgrad/circuit/harden.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/proof/equivalence.h"
#include "boolgrad/data/boolean_task.h"
#include "boolgrad/model/model.h"
#include "boolgrad/train/experiment/changes.h"
#include "boolgrad/train/learners/initial_model.h"
#include "boolgrad/train/run/checkpoint.h"
#include "boolgrad/train/run/run.h"
#include "tests/support/messages.h"
#include "tests/support/netlists.h"
#include "tests/support/trainer_checks.h"

namespace boolgrad::train {
namespace {

using testing_support::ScratchFolder;
using testing_support::write_bytes;

/// A ripple-carry adder of two numbers of two bits, with the names of the task.
const char* const adder =
    "module adder(a, b, y);\n  input [1:0] a, b;\n  output [2:0] y;\n  wire c;\n"
    "  assign y[0] = a[0] ^ b[0];\n  assign c = a[0] & b[0];\n"
    "  assign y[1] = (a[1] ^ b[1]) ^ c;\n"
    "  assign y[2] = (a[1] & b[1]) | (c & (a[1] ^ b[1]));\nendmodule\n";

class InitialCircuitTest : public testing::Test {
 protected:
  Experiment experiment(std::vector<std::string> overrides = {}) const {
    overrides.insert(overrides.begin(), "network.init_circuit=" + file_);
    return parse_experiment(
        "[task]\nkind = 'add'\nbits = 4\n[network]\nhidden = [20]\n[training]\n"
        "steps = 40\nlearning_rate = 0.05\nlog_every = 10\n",
        "test", "adder4", "", overrides);
  }

  static circuit::Netlist hardened(const Experiment& experiment, std::int64_t inputs = 4,
                                   std::int64_t outputs = 3) {
    return circuit::harden(make_network(experiment, inputs, outputs));
  }

  ScratchFolder scratch_;
  std::string file_ = [this] {
    write_bytes(scratch_ / "adder.v", adder);
    return (scratch_ / "adder.v").string();
  }();
  circuit::Netlist netlist_ = circuit::read_netlist(file_);
};

TEST_F(InitialCircuitTest, HardensToTheCircuitWithEveryKindOfNetwork) {
  const std::vector<std::vector<std::string>> variations = {
      {},
      {"network.parametrisation=walsh", "network.arity=3"},
      {"network.parametrisation=softmax16"},
      {"network.arity=4", "network.dtype=float64"},
      {"network.candidates=3"},
      {"network.candidates=0", "network.arity=3"},
      {"network.init_circuit_strength=0.5"},
      {"network.hidden=[30, 30, 30, 30, 30, 30]", "network.wiring=unique"},
      {"network.hidden=[30, 30, 30]", "network.wiring=local", "network.init=residual"}};
  for (const auto& variation : variations) {
    SCOPED_TRACE(testing::PrintToString(variation));
    EXPECT_FALSE(circuit::difference(hardened(experiment(variation)), netlist_));
  }
}

TEST_F(InitialCircuitTest, HasSoftTablesOfTheGivenStrength) {
  for (const char* kind : {"sigmoid", "walsh", "softmax16"}) {
    const logic::Network network =
        make_network(experiment({fmt::format("network.parametrisation={}", kind)}), 4, 3);
    const Tensor soft = network.tables()[1];
    const Tensor hard = network.hard_tables_of(1);
    for (std::int64_t i = 0; i < soft.size(); ++i) {
      EXPECT_NEAR(soft.at(i), hard.at(i) == 1 ? 0.9975273768 : 0.0024726232, 1e-6) << kind;
    }
  }
}

TEST_F(InitialCircuitTest, LeavesSpareGatesToChance) {
  const logic::Network with = make_network(experiment(), 4, 3);
  Experiment plain = experiment({"network.hidden=[20, 11, 3]", "network.init_circuit=''"});
  const logic::Network without = make_network(plain, 4, 3);
  const auto& first = with.layers()[0];
  const auto& usual = without.layers()[0];
  ASSERT_EQ(first.wiring->gates(), 20);
  std::int64_t equal = 0;
  for (std::int64_t g = 0; g < 20; ++g) {
    const bool same = first.logits.at(4 * g) == usual.logits.at(4 * g) &&
                      first.wiring->source(g, 0) == usual.wiring->source(g, 0) &&
                      first.wiring->source(g, 1) == usual.wiring->source(g, 1);
    equal += same ? 1 : 0;
    EXPECT_TRUE(same || equal == 0) << "spare gates come last";
  }
  const auto layers = circuit::layers_of(netlist_, with.layers().size());
  EXPECT_EQ(equal, 20 - std::ssize(layers[0]));
}

TEST_F(InitialCircuitTest, GrowsTheNetworkAndSaysSo) {
  std::vector<std::string> notices;
  const Experiment grown = with_initial_circuit(experiment(), &notices);
  const auto layers = circuit::layers_of(netlist_);
  ASSERT_EQ(layers.size(), 3U);
  EXPECT_EQ(grown.network.hidden, (std::vector<std::int64_t>{20, std::ssize(layers[1])}));
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0],
            fmt::format("adder.v: network.hidden grows from [20] to [20, {}]", layers[1].size()));
  notices.clear();
  EXPECT_EQ(with_initial_circuit(grown, &notices).network.hidden, grown.network.hidden);
  EXPECT_TRUE(notices.empty());
}

TEST_F(InitialCircuitTest, GrowsToManyLayers) {
  circuit::Netlist chain;
  for (int i = 0; i < 4; ++i) chain.inputs.push_back(fmt::format("x{}", i));
  circuit::Net last = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    chain.gates.push_back(
        {.truth = 0b0110, .inputs = {last, static_cast<circuit::Net>(i % 4)}, .arity = 2});
    last = chain.gate(i);
  }
  chain.outputs = {"y0", "y1", "y2"};
  chain.output_nets = {last, 0, last};
  circuit::write_netlist(circuit::checked(chain), scratch_ / "chain.net");
  std::vector<std::string> notices;
  const Experiment grown = with_initial_circuit(
      experiment({"network.init_circuit=" + (scratch_ / "chain.net").string()}), &notices);
  EXPECT_EQ(notices,
            std::vector<std::string>{
                "chain.net: network.hidden grows from [20] to 39 layers of up to 20 gates"});
  EXPECT_FALSE(circuit::difference(hardened(grown), chain));
}

TEST_F(InitialCircuitTest, DoesNotGrowLayersThatWereGivenWithIt) {
  const auto layers = circuit::layers_of(netlist_);
  const std::string needed = fmt::format("of at least [{}, {}], which the circuit needs",
                                         layers[0].size(), layers[1].size());
  expect_error([&] { with_initial_circuit(experiment({"network.hidden=[20]"})); },
               fmt::format("[init] {}: expected network.hidden {}, received [20]", file_, needed));
  expect_error(
      [&] { with_initial_circuit(experiment({"network.hidden=[20, 2]"})); },
      fmt::format("[init] {}: expected network.hidden {}, received [20, 2]", file_, needed));
  const Experiment in_file = parse_experiment(
      fmt::format("[task]\nkind = 'add'\nbits = 4\n[network]\nhidden = [20]\ninit_circuit = '{}'\n",
                  file_),
      "test", "adder4", "");
  expect_error([&] { with_initial_circuit(in_file); },
               fmt::format("[init] {}: expected network.hidden {}, received [20]", file_, needed));
  EXPECT_EQ(with_initial_circuit(experiment({"network.hidden=[20, 9]"})).network.hidden,
            (std::vector<std::int64_t>{20, 9}));
}

TEST_F(InitialCircuitTest, SplitsGatesOfMoreInputsThanTheNetworks) {
  const circuit::Netlist wide = random_netlist(4, 30, 3, 5, 1);
  circuit::write_netlist(wide, scratch_ / "wide.net");
  const std::string path = (scratch_ / "wide.net").string();
  std::vector<std::string> notices;
  const Experiment three = with_initial_circuit(
      experiment({"network.init_circuit=" + path, "network.arity=3"}), &notices);
  ASSERT_EQ(notices.size(), 2U);
  EXPECT_EQ(notices[0], "wide.net: gates of 5 inputs are decomposed, because network.arity is 3");
  EXPECT_FALSE(circuit::difference(hardened(three), wide));
  notices.clear();
  const Experiment five = with_initial_circuit(
      experiment({"network.init_circuit=" + path, "network.arity=5"}), &notices);
  EXPECT_EQ(notices.size(), 1U);
  EXPECT_FALSE(circuit::difference(hardened(five), wide));
  expect_error(
      [&] {
        with_initial_circuit(experiment({"network.init_circuit=" + path, "network.arity=[2, 1]"}));
      },
      fmt::format("[init] {}: expected network.arity of at least 2 for gates of 5 inputs, "
                  "received 1",
                  path));
  expect_error([&] { with_initial_circuit(experiment({"network.arity=[4, 2]"})); },
               fmt::format("[init] {}: expected network.arity with 1 value, because the circuit "
                           "needs 3 layers, received 2",
                           file_));
}

TEST_F(InitialCircuitTest, MatchesPortsByTheNamesOfTheOperands) {
  const std::string path = (scratch_ / "swapped.v").string();
  std::string text = adder;
  text.replace(text.find("input [1:0] a, b"), 16, "input [1:0] b, a");
  text.replace(text.find("(a, b, y)"), 9, "(b, a, y)");
  text.replace(text.find("a[0] & b[0]"), 11, "a[0] & 1'b0");
  write_bytes(path, text);
  const circuit::Netlist swapped = circuit::read_netlist(path);
  ASSERT_EQ(swapped.inputs[0], "b[0]");
  const circuit::Netlist learned = hardened(experiment({"network.init_circuit=" + path}));
  const auto outputs = [](const circuit::Netlist& netlist, std::uint64_t low, std::uint64_t high) {
    const auto word = [](std::uint64_t bit) { return (bit & 1) != 0 ? ~std::uint64_t{0} : 0; };
    return circuit::evaluate(netlist, std::vector<std::uint64_t>{word(low), word(low >> 1),
                                                                 word(high), word(high >> 1)});
  };
  for (std::uint64_t a = 0; a < 4; ++a) {
    for (std::uint64_t b = 0; b < 4; ++b) EXPECT_EQ(outputs(learned, a, b), outputs(swapped, b, a));
  }
}

TEST_F(InitialCircuitTest, ResumesToTheSameBits) {
  for (const std::vector<std::string>& variation :
       std::vector<std::vector<std::string>>{{"network.init_circuit_strength=0.5"},
                                             {"network.candidates=3", "knockout.pattern=random"}}) {
    expect_resumable(experiment(variation), 30, {0, 11});
    expect_same_on_any_threads(experiment(variation), 20);
  }
}

TEST_F(InitialCircuitTest, IsInTheCheckpoint) {
  const auto folder = scratch_ / "run";
  const Experiment wanted = experiment({"training.stop_when_solved=false", "training.steps=20"});
  run_experiment(wanted, {.folder = folder});
  std::filesystem::remove(file_);
  const Experiment saved = load_checkpoint(folder / checkpoint_file).experiment;
  EXPECT_EQ(saved.network.init_circuit, file_);
  ASSERT_TRUE(saved.network.circuit);
  EXPECT_EQ(saved.network.circuit->netlist.gates, netlist_.gates);
  const ExperimentChanges changes{.steps = 30, .circuit = saved.network.circuit};
  const Experiment longer = changed_experiment(to_toml(saved), "checkpoint", "", "", changes);
  const RunReport report = run_experiment(longer, {.folder = folder, .resume = true});
  EXPECT_EQ(report.last.step, 30);
  // To the bit what a run of 30 steps is.
  write_bytes(file_, adder);
  run_experiment(experiment({"training.stop_when_solved=false", "training.steps=30"}),
                 {.folder = scratch_ / "straight"});
  const auto tensors_in = [](const std::filesystem::path& run) {
    return TensorFile{.tensors = load_checkpoint(run / checkpoint_file).state.tensors,
                      .metadata = {}};  // which has times
  };
  expect_same(tensors_in(folder), tensors_in(scratch_ / "straight"));
  // Not a circuit that has changed since.
  std::string other = adder;
  other.replace(other.find('^'), 1, "|");
  write_bytes(file_, other);
  expect_error(
      [&] {
        run_experiment(experiment({"training.stop_when_solved=false", "training.steps=40"}),
                       {.folder = folder, .resume = true});
      },
      fmt::format("[resume] {}: the run was started from another circuit than {} has now",
                  (folder / checkpoint_file).string(), file_));
}

TEST_F(InitialCircuitTest, StartsFromAModel) {
  const Experiment plain = parse_experiment(
      "[task]\nkind = 'add'\nbits = 4\n[network]\nhidden = [24]\narity = 3\n", "test", "a", "");
  const logic::Network network = make_network(plain, 4, 3);
  save_model(scratch_ / "m.safetensors", to_toml(plain), network.to_file());
  const Experiment further = experiment(
      {"network.init_circuit=" + (scratch_ / "m.safetensors").string(), "network.arity=3"});
  EXPECT_FALSE(circuit::difference(hardened(further), circuit::harden(network)));
}

TEST_F(InitialCircuitTest, StartsAClassifier) {
  const auto monk = [&](const std::vector<std::string>& overrides) {
    return parse_experiment(
        "[task]\nkind = 'monk1'\n[network]\nhidden = [12]\n[head]\n"
        "outputs = 4\n[training]\nsteps = 20\n",
        "test", "monk", "", overrides);
  };
  const std::int64_t bits = Trainer(monk({})).learner().model().network().inputs();
  circuit::Netlist netlist = random_netlist(static_cast<std::size_t>(bits), 30, 4, 2, 3);
  circuit::write_netlist(netlist, scratch_ / "monk.net");
  const std::string path = (scratch_ / "monk.net").string();
  const Trainer trainer(monk({"network.init_circuit=" + path}));
  EXPECT_FALSE(circuit::difference(circuit::harden(trainer.learner().model().network()), netlist));
  expect_error(
      [&] {
        Trainer(monk({"network.init_circuit=" + path, "head.outputs=6"}));
      },
      fmt::format("[init] {}: expected a circuit of {} inputs and 6 outputs for monk, "
                  "received {} and 4",
                  path, bits, bits));
}

TEST_F(InitialCircuitTest, IsRefusedWhereItDoesNotFit) {
  expect_error([&] { Trainer(experiment({"task.bits=6"})); },
               fmt::format("[init] {}: expected a circuit of 6 inputs and 4 outputs for adder4, "
                           "received 4 and 3",
                           file_));
  expect_error([&] { experiment({"network.group_size=2"}); },
               "[experiment] test: expected network.group_size = 1 with network.init_circuit, "
               "received 2");
  expect_error([&] { experiment({"task.kind=checkerboard"}); },
               "[experiment] test: network.init_circuit is for circuits and classifiers, not for "
               "automata");
  expect_error(
      [&] {
        experiment({"task.kind=cifar10", "convolution.kernels=[4]"});
      },
      "[experiment] test: expected no convolutions with network.init_circuit, received 1");
  expect_error([&] { experiment({"network.init_circuit_strength=0"}); },
               "[experiment] --set: expected network.init_circuit_strength to be a number above 0 "
               "and at most 30, received 0");
  expect_error([&] { Trainer(experiment({"network.init_circuit=/none.blif"})); },
               "[read] cannot read /none.blif: No such file or directory");
  circuit::Netlist rule = random_netlist(9, 20, 1, 2, 1);
  rule.state = circuit::NetlistState{.channels = 1};
  circuit::write_netlist(rule, scratch_ / "rule.net");
  const std::string path = (scratch_ / "rule.net").string();
  expect_error(
      [&] { Trainer(experiment({"network.init_circuit=" + path})); },
      fmt::format("[init] {}: expected a circuit, received the rule of an automaton", path));
}

}  // namespace
}  // namespace boolgrad::train
