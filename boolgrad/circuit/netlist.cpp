#include "boolgrad/circuit/netlist.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"

namespace boolgrad::circuit {
namespace {

constexpr const char* where = "netlist";

void check_names(const std::vector<std::string>& names, std::string_view what) {
  std::unordered_set<std::string_view> seen;
  seen.reserve(names.size());
  for (const std::string& name : names) {
    if (name.empty()) fail(where, "expected a name for every {}, received an empty one", what);
    if (!seen.insert(name).second) {
      fail(where, "expected unique {} names, received {} twice", what, printable(name));
    }
  }
}

void check_gate(const Netlist& netlist, std::size_t index) {
  const NetlistGate& gate = netlist.gates[index];
  if (gate.arity > NetlistGate::max_inputs) {
    fail(where, "expected gates of at most {} inputs, received {} at gate {}",
         NetlistGate::max_inputs, gate.arity, index);
  }
  for (const Net net : gate.sources()) {
    if (net >= netlist.gate(netlist.gates.size())) {
      fail(where, "expected gate {} to read existing nets, received net {} of {}", index, net,
           netlist.gate(netlist.gates.size()));
    }
    if (net >= netlist.gate(index)) {
      fail(where, "expected gates in topological order, received gate {} that reads net {}", index,
           net);
    }
  }
  const unsigned entries = 1U << gate.arity;
  if (entries < 64 && (gate.truth >> entries) != 0) {
    fail(where, "expected a table of {} bits for gate {} of {} inputs, received {:#x}", entries,
         index, gate.arity, gate.truth);
  }
}

void check_state(const Netlist& netlist) {
  if (!netlist.state) return;
  constexpr std::int64_t neighbourhood = 9;
  const std::int64_t channels = netlist.state->channels;
  if (channels < 1 || std::ssize(netlist.inputs) != neighbourhood * channels ||
      std::ssize(netlist.outputs) != channels) {
    fail(where, "expected {} inputs and {} outputs for {} channels of state, received {} and {}",
         neighbourhood * channels, channels, channels, netlist.inputs.size(),
         netlist.outputs.size());
  }
}

}  // namespace

Netlist checked(Netlist netlist) {
  check_names(netlist.inputs, "input");
  check_names(netlist.outputs, "output");
  for (std::size_t i = 0; i < netlist.gates.size(); ++i) check_gate(netlist, i);
  if (netlist.output_nets.size() != netlist.outputs.size()) {
    fail(where, "expected a net for each of {} outputs, received {}", netlist.outputs.size(),
         netlist.output_nets.size());
  }
  for (std::size_t i = 0; i < netlist.output_nets.size(); ++i) {
    if (netlist.output_nets[i] >= netlist.gate(netlist.gates.size())) {
      fail(where, "expected output {} to read an existing net, received net {} of {}",
           printable(netlist.outputs[i]), netlist.output_nets[i],
           netlist.gate(netlist.gates.size()));
    }
  }
  check_state(netlist);
  return netlist;
}

std::vector<std::uint64_t> evaluate(const Netlist& netlist, std::span<const std::uint64_t> inputs) {
  if (inputs.size() != netlist.inputs.size()) {
    fail(where, "expected {} words, one per input, received {}", netlist.inputs.size(),
         inputs.size());
  }
  std::vector<std::uint64_t> nets(inputs.begin(), inputs.end());
  nets.reserve(netlist.gate(netlist.gates.size()));
  for (const NetlistGate& gate : netlist.gates) {
    // A tree of multiplexers: each input selects one half of the remaining table.
    std::array<std::uint64_t, std::size_t{1} << NetlistGate::max_inputs> values{};
    std::size_t entries = std::size_t{1} << gate.arity;
    for (std::size_t i = 0; i < entries; ++i) values[i] = (gate.truth >> i & 1) != 0 ? ~0ULL : 0;
    for (int j = gate.arity - 1; j >= 0; --j) {
      const std::uint64_t chooses = nets[gate.inputs[static_cast<std::size_t>(j)]];
      entries /= 2;
      for (std::size_t i = 0; i < entries; ++i) {
        values[i] = (values[i] & ~chooses) | (values[i + entries] & chooses);
      }
    }
    nets.push_back(values[0]);
  }
  std::vector<std::uint64_t> outputs;
  for (const Net net : netlist.output_nets) outputs.push_back(nets[net]);
  return outputs;
}

std::int64_t depth(const Netlist& netlist) {
  std::vector<std::int64_t> levels(netlist.inputs.size(), 0);
  for (const NetlistGate& gate : netlist.gates) {
    std::int64_t level = 0;
    for (const Net net : gate.sources()) level = std::max(level, levels[net] + 1);
    levels.push_back(level);
  }
  std::int64_t deepest = 0;
  for (const Net net : netlist.output_nets) deepest = std::max(deepest, levels[net]);
  return deepest;
}

}  // namespace boolgrad::circuit
