// States of automata and truth tables as text, the way pages dump them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "boolgrad/automata/bit_grid.h"
#include "boolgrad/circuit/netlist.h"

namespace boolgrad {

/// A line of 0 and 1 a row of the first grid, channel after channel with an empty line between.
inline std::string state_text(const BitGrid& state) {
  std::string text;
  for (std::int64_t c = 0; c < state.channels(); ++c) {
    if (c > 0) text += "\n\n";
    for (std::int64_t y = 0; y < state.height(); ++y) {
      if (y > 0) text += '\n';
      for (std::int64_t x = 0; x < state.width(); ++x) text += state.at(c, 0, y, x) ? '1' : '0';
    }
  }
  return text;
}

/// Every case of a netlist, a line each: inputs, a blank, outputs.
inline std::string table_text(const Netlist& netlist) {
  std::string text;
  const std::size_t count = netlist.inputs.size();
  for (std::uint64_t i = 0; i < 1ULL << count; ++i) {
    std::vector<std::uint64_t> inputs;
    for (std::size_t j = 0; j < count; ++j) inputs.push_back(i >> j & 1);
    if (i > 0) text += '\n';
    for (const std::uint64_t bit : inputs) text += bit != 0 ? '1' : '0';
    text += ' ';
    for (const std::uint64_t bit : evaluate(netlist, inputs)) text += (bit & 1) != 0 ? '1' : '0';
  }
  return text;
}

}  // namespace boolgrad
