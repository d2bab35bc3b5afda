#include "boolgrad/automata/grid_errors.h"

#include "boolgrad/automata/bit_automaton.h"

namespace boolgrad {

namespace {

bool is_in(const std::vector<Rectangle>& rectangles, std::int64_t y, std::int64_t x) {
  for (const Rectangle& r : rectangles) {
    if (r.top <= y && y < r.top + r.height && r.left <= x && x < r.left + r.width) return true;
  }
  return false;
}

}  // namespace

GridErrors compare(const BitGrid& state, const Tensor& target,
                   const std::vector<Rectangle>& ignored) {
  const BitGrid wanted = BitGrid::from(target);
  GridErrors errors;
  errors.all_grids = state.batch();
  for (std::int64_t item = 0; item < state.batch(); ++item) {
    const std::int64_t other = wanted.batch() == 1 ? 0 : item;
    std::int64_t wrong = 0;
    for (std::int64_t y = 0; y < state.height(); ++y) {
      for (std::int64_t x = 0; x < state.width(); ++x) {
        if (!ignored.empty() && is_in(ignored, y, x)) continue;
        errors.all_bits += wanted.channels();
        for (std::int64_t c = 0; c < wanted.channels(); ++c) {
          wrong += state.at(c, item, y, x) != wanted.at(c, other, y, x) ? 1 : 0;
        }
      }
    }
    errors.bits += wrong;
    errors.grids += wrong > 0 ? 1 : 0;
  }
  return errors;
}

BitGrid hard_states(const Rule& rule, BitGrid state, const std::vector<BitGrid>& fire,
                    std::int64_t steps) {
  BitAutomaton automaton(rule);
  for (std::int64_t step = 0; step < steps; ++step) {
    automaton.step(state, fire.empty() ? nullptr : &fire[static_cast<std::size_t>(step)]);
  }
  return state;
}

}  // namespace boolgrad
