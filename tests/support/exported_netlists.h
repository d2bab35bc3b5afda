// Netlists for tests of what is written to files.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/core/random.h"
#include "tests/support/netlists.h"

namespace boolgrad {

struct NetlistSize {
  std::size_t inputs = 8;
  std::size_t gates = 40;
  std::size_t outputs = 5;
};

/// Random tables of up to six inputs, constants and repeated inputs included; outputs read gates
/// and inputs, some of them the same. At least one input.
inline Netlist random_netlist(const NetlistSize& size, std::uint64_t seed) {
  Netlist netlist =
      random_netlist(size.inputs, size.gates, size.outputs, NetlistGate::most_inputs, seed);
  netlist.name = "random";
  for (std::size_t i = 0; i < size.inputs; ++i) netlist.inputs[i] = "x" + std::to_string(i);
  for (std::size_t i = 0; i < size.outputs; ++i) netlist.outputs[i] = "y" + std::to_string(i);
  return netlist;
}

/// A random rule of an automaton.
inline Netlist random_automaton(std::int64_t channels, Border border, std::uint64_t seed) {
  const auto count = static_cast<std::size_t>(channels);
  Netlist netlist = random_netlist({.inputs = 9 * count, .gates = 30, .outputs = count}, seed);
  // Late gates, so that the rule is not a mere wire.
  for (std::size_t c = 0; c < count; ++c) netlist.output_nets[c] = netlist.gate(29 - c % 8);
  netlist.state = NetlistState{.channels = channels, .border = border};
  return checked(std::move(netlist));
}

/// Words of 64 random samples.
inline std::vector<std::uint64_t> random_words(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint64_t> words;
  for (std::size_t i = 0; i < count; ++i) {
    const PhiloxCounter bits = random_bits({.seed = seed, .stream = 1, .index = i});
    words.push_back(std::uint64_t{bits[0]} << 32 | bits[1]);
  }
  return words;
}

/// Whether two netlists agree on random samples: enough to tell a wrong reader or writer.
inline bool agree(const Netlist& a, const Netlist& b) {
  if (a.inputs.size() != b.inputs.size() || a.outputs.size() != b.outputs.size()) return false;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    const std::vector<std::uint64_t> words = random_words(a.inputs.size(), seed);
    if (evaluate(a, words) != evaluate(b, words)) return false;
  }
  return true;
}

}  // namespace boolgrad
