// Netlists for tests of file formats.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/circuit/netlist.h"
#include "tests/support/netlists.h"
#include "tests/support/random_words.h"

namespace boolgrad {

struct NetlistSize {
  std::size_t inputs = 8;
  std::size_t gates = 40;
  std::size_t outputs = 5;
};

/// Random tables of up to six inputs, with constants and repeated inputs. Outputs read gates and
/// inputs, some of them repeatedly. At least one input.
inline circuit::Netlist random_netlist(const NetlistSize& size, std::uint64_t seed) {
  circuit::Netlist netlist =
      random_netlist(size.inputs, size.gates, size.outputs, circuit::NetlistGate::max_inputs, seed);
  netlist.name = "random";
  for (std::size_t i = 0; i < size.inputs; ++i) netlist.inputs[i] = "x" + std::to_string(i);
  for (std::size_t i = 0; i < size.outputs; ++i) netlist.outputs[i] = "y" + std::to_string(i);
  return netlist;
}

/// A random automaton rule.
inline circuit::Netlist random_automaton(std::int64_t channels, Border border, std::uint64_t seed) {
  const auto count = static_cast<std::size_t>(channels);
  circuit::Netlist netlist =
      random_netlist({.inputs = 9 * count, .gates = 30, .outputs = count}, seed);
  // Late gates, so that the rule is not a mere wire.
  for (std::size_t c = 0; c < count; ++c) netlist.output_nets[c] = netlist.gate(29 - c % 8);
  netlist.state = circuit::NetlistState{.channels = channels, .border = border};
  return circuit::checked(std::move(netlist));
}

/// Whether two netlists agree on random samples: enough to detect errors of readers and writers.
inline bool agree(const circuit::Netlist& a, const circuit::Netlist& b) {
  if (a.inputs.size() != b.inputs.size() || a.outputs.size() != b.outputs.size()) return false;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    const std::vector<std::uint64_t> words = random_words(a.inputs.size(), seed);
    if (evaluate(a, words) != evaluate(b, words)) return false;
  }
  return true;
}

}  // namespace boolgrad
