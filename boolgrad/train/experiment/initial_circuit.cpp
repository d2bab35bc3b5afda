#include "boolgrad/train/experiment/initial_circuit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/port_order.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/export.h"
#include "boolgrad/model/task_words.h"

namespace boolgrad::train {
namespace {

constexpr std::string_view where = "init";

void add_notice(std::vector<std::string>* notices, std::string text) {
  if (notices != nullptr) notices->push_back(std::move(text));
}

/// How notices call a circuit.
std::string file_name(const std::string& path) {
  return printable(std::filesystem::path(path).filename().string());
}

std::int64_t max_arity(const circuit::Netlist& netlist) {
  std::int64_t largest = 0;
  for (const circuit::NetlistGate& gate : netlist.gates) {
    largest = std::max<std::int64_t>(largest, gate.arity);
  }
  return largest;
}

/// The circuit of gates with at most as many inputs as those of the network.
circuit::Netlist with_arity_of(const NetworkOptions& network, circuit::Netlist netlist,
                               const std::string& path, std::vector<std::string>* notices) {
  const std::int64_t arity = *std::ranges::min_element(network.arity);
  const std::int64_t received = max_arity(netlist);
  if (received <= arity) return netlist;
  if (arity < 2) {
    fail(where, "{}: expected network.arity of at least 2 for gates of {} inputs, received {}",
         printable(path), received, arity);
  }
  add_notice(notices, fmt::format("{}: gates of {} inputs are decomposed, because network.arity "
                                  "is {}",
                                  file_name(path), received, arity));
  return circuit::decompose(netlist);
}

std::shared_ptr<const InitialCircuit> read_circuit(const NetworkOptions& network,
                                                   std::vector<std::string>* notices) {
  const std::string& path = network.init_circuit;
  CircuitSource source = load_circuit(path);
  if (source.netlist.state) {
    fail(where, "{}: expected a circuit, received the rule of an automaton", path);
  }
  return std::make_shared<const InitialCircuit>(
      InitialCircuit{path, with_arity_of(network, std::move(source.netlist), path, notices)});
}

/// Gates per hidden layer: those that were asked for, or more if the circuit needs them.
std::vector<std::int64_t> enough_gates(std::vector<std::int64_t> hidden,
                                       const std::vector<circuit::LayerGates>& layers) {
  hidden.resize(layers.size() - 1, 0);
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    hidden[i] = std::max(hidden[i], std::ssize(layers[i]));
  }
  return hidden;
}

/// Hidden layers as a list or, if there are many, their number.
std::string layers_text(const std::vector<std::int64_t>& hidden) {
  constexpr std::size_t max_listed = 16;
  if (hidden.size() <= max_listed) return fmt::format("[{}]", fmt::join(hidden, ", "));
  return fmt::format("{} layers of up to {} gates", hidden.size(),
                     *std::ranges::max_element(hidden));
}

void check_lists(const NetworkOptions& network, std::size_t layers, const std::string& path) {
  const auto check = [&](const std::vector<std::int64_t>& values, std::string_view key) {
    if (values.size() == 1 || values.size() == layers) return;
    fail(where, "{}: expected {} with 1 value, because the circuit needs {} layers, received {}",
         path, key, layers, values.size());
  };
  check(network.arity, "network.arity");
  check(network.candidates, "network.candidates");
}

}  // namespace

void check_initial_circuit(const Experiment& experiment, const std::string& source) {
  const NetworkOptions& network = experiment.network;
  if (network.init_circuit.empty()) return;
  if (experiment.is_automaton()) {
    fail("experiment", "{}: network.init_circuit is for circuits and classifiers, not for automata",
         source);
  }
  const auto grouped =
      std::ranges::find_if(network.group_size, [](auto size) { return size != 1; });
  if (grouped != network.group_size.end()) {
    fail("experiment", "{}: expected network.group_size = 1 with network.init_circuit, received {}",
         source, *grouped);
  }
  if (experiment.convolution.size() > 0) {
    fail("experiment", "{}: expected no convolutions with network.init_circuit, received {}",
         source, experiment.convolution.size());
  }
}

Experiment with_initial_circuit(Experiment experiment, std::vector<std::string>* notices) {
  NetworkOptions& network = experiment.network;
  if (network.init_circuit.empty()) {
    network.circuit.reset();
    return experiment;
  }
  if (!network.circuit || network.circuit->path != network.init_circuit) {
    network.circuit = read_circuit(network, notices);
  }
  const std::string path = printable(network.init_circuit);
  const auto layers = circuit::layers_of(network.circuit->netlist, network.hidden.size() + 1);
  std::vector<std::int64_t> hidden = enough_gates(network.hidden, layers);
  if (hidden == network.hidden) return experiment;
  if (network.hidden_is_fixed) {
    fail(where, "{}: expected network.hidden of at least {}, which the circuit needs, received {}",
         path, layers_text(enough_gates({}, layers)), layers_text(network.hidden));
  }
  check_lists(network, layers.size(), path);
  add_notice(notices,
             fmt::format("{}: network.hidden grows from {} to {}", file_name(network.init_circuit),
                         layers_text(network.hidden), layers_text(hidden)));
  network.hidden = std::move(hidden);
  return experiment;
}

std::vector<circuit::LayerGates> initial_layers(const Experiment& experiment, std::int64_t inputs,
                                                std::int64_t outputs) {
  const circuit::Netlist& netlist = experiment.network.circuit->netlist;
  const std::size_t layers = experiment.network.hidden.size() + 1;
  if (std::ssize(netlist.inputs) != inputs || std::ssize(netlist.outputs) != outputs) {
    fail(where, "{}: expected a circuit of {} inputs and {} outputs for {}, received {} and {}",
         printable(experiment.network.init_circuit), inputs, outputs, printable(experiment.name),
         netlist.inputs.size(), netlist.outputs.size());
  }
  circuit::Netlist named = netlist;
  name_operands(named, experiment.task.kind);
  const auto ordered = circuit::with_port_order(netlist, named.inputs, named.outputs);
  return circuit::layers_of(ordered.value_or(netlist), layers);
}

}  // namespace boolgrad::train
