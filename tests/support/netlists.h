// Netlists for tests of passes and files.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/core/random.h"

namespace boolgrad {

struct NetlistSize {
  std::size_t inputs = 8;
  std::size_t gates = 40;
  std::size_t outputs = 5;
};

/// Random tables of up to six inputs, constants and repeated inputs included; outputs read gates
/// and inputs, some of them the same.
inline Netlist random_netlist(const NetlistSize& size, std::uint64_t seed) {
  std::uint64_t index = 0;
  const auto below = [&](std::uint64_t bound) {
    return random_below({.seed = seed, .index = index++}, bound);
  };
  Netlist netlist;
  netlist.name = "random";
  for (std::size_t i = 0; i < size.inputs; ++i) netlist.inputs.push_back("x" + std::to_string(i));
  for (std::size_t i = 0; i < size.gates; ++i) {
    const Net nets = netlist.gate(i);
    NetlistGate gate;
    gate.arity = static_cast<std::uint8_t>(nets == 0 ? 0 : below(NetlistGate::most_inputs + 1));
    for (unsigned j = 0; j < gate.arity; ++j) gate.inputs[j] = static_cast<Net>(below(nets));
    const unsigned entries = 1U << gate.arity;
    gate.truth = (below(1ULL << 32) << 32 | below(1ULL << 32)) >> (64 - entries);
    netlist.gates.push_back(gate);
  }
  for (std::size_t i = 0; i < size.outputs; ++i) {
    netlist.outputs.push_back("y" + std::to_string(i));
    netlist.output_nets.push_back(static_cast<Net>(below(netlist.gate(size.gates))));
  }
  return checked(std::move(netlist));
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
