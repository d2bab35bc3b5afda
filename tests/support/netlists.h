// Netlists for tests.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/core/random.h"

namespace boolgrad {

/// Random tables of up to `arity` inputs that mostly read recent nets. Some have no inputs, read a
/// net twice or do not depend on all inputs.
inline circuit::Netlist random_netlist(std::size_t inputs, std::size_t size, std::size_t outputs,
                                       int arity, std::uint64_t seed) {
  std::uint64_t index = 0;
  const auto below = [&](std::uint64_t bound) {
    return random_below({.seed = seed, .stream = 7, .index = index++}, bound);
  };
  circuit::Netlist netlist;
  for (std::size_t i = 0; i < inputs; ++i) netlist.inputs.push_back(fmt::format("in{}", i));
  for (std::size_t g = 0; g < size; ++g) {
    circuit::NetlistGate gate;
    gate.arity = below(20) == 0
                     ? 0
                     : static_cast<std::uint8_t>(1 + below(static_cast<std::uint64_t>(arity)));
    const std::uint64_t nets = netlist.gate(g);
    for (std::size_t j = 0; j < gate.arity; ++j) {
      const std::uint64_t recent = nets < 12 || below(3) == 0 ? nets : 12;
      gate.inputs[j] = static_cast<circuit::Net>(nets - 1 - below(recent));
    }
    const auto bits = random_bits({.seed = seed, .stream = 8, .index = g});
    gate.truth = std::uint64_t{bits[0]} << 32 | bits[1];
    if (gate.arity < 6) gate.truth &= (1ULL << (1U << gate.arity)) - 1;
    netlist.gates.push_back(gate);
  }
  for (std::size_t o = 0; o < outputs; ++o) {
    netlist.outputs.push_back(fmt::format("out{}", o));
    netlist.output_nets.push_back(static_cast<circuit::Net>(below(netlist.gate(size))));
  }
  return circuit::checked(std::move(netlist));
}

}  // namespace boolgrad
