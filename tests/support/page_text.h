// Automaton states and truth tables as text, in the format that HTML viewers dump.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "boolgrad/automata/bit_grid.h"
#include "boolgrad/circuit/netlist.h"

namespace boolgrad {

/// One line of 0 and 1 per row of the first grid, with an empty line between channels.
inline std::string state_text(const automata::BitGrid& state) {
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

/// The truth table of a netlist, one line per assignment: inputs, a space, outputs.
inline std::string table_text(const circuit::Netlist& netlist) {
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
