// States of automata as text, the way pages dump them.
#pragma once

#include <cstdint>
#include <string>

#include "boolgrad/automata/bit_grid.h"

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

}  // namespace boolgrad
