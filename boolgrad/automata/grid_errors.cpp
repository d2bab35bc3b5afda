#include "boolgrad/automata/grid_errors.h"

#include <algorithm>
#include <optional>

#include "boolgrad/automata/bit_automaton.h"
#include "boolgrad/options/target.h"

namespace boolgrad::automata {

namespace {

bool is_in(const std::vector<Rectangle>& rectangles, std::int64_t y, std::int64_t x) {
  for (const Rectangle& r : rectangles) {
    if (r.top <= y && y < r.top + r.height && r.left <= x && x < r.left + r.width) return true;
  }
  return false;
}

/// The bits of a target that matter; none if all do.
std::optional<BitGrid> bits_that_matter(const Tensor& target) {
  if (!has_any_value(target)) return std::nullopt;
  Tensor flags(target.shape(), DType::uint8);
  std::ranges::transform(target.values<std::uint8_t>(),
                         flags.mutable_values<std::uint8_t>().begin(),
                         [](std::uint8_t bit) { return matters(bit) ? 1 : 0; });
  return BitGrid::from(flags);
}

}  // namespace

bool has_any_value(const Tensor& target) {
  if (target.dtype() != DType::uint8) return false;
  return !std::ranges::all_of(target.values<std::uint8_t>(), matters);
}

GridErrors compare(const BitGrid& state, const Tensor& target,
                   const std::vector<Rectangle>& ignored) {
  const BitGrid expected = BitGrid::from(target);
  const std::optional<BitGrid> counted = bits_that_matter(target);
  GridErrors errors;
  errors.all_grids = state.batch();
  for (std::int64_t item = 0; item < state.batch(); ++item) {
    const std::int64_t other = expected.batch() == 1 ? 0 : item;
    std::int64_t wrong_bits = 0;
    for (std::int64_t y = 0; y < state.height(); ++y) {
      for (std::int64_t x = 0; x < state.width(); ++x) {
        if (!ignored.empty() && is_in(ignored, y, x)) continue;
        for (std::int64_t c = 0; c < expected.channels(); ++c) {
          if (counted && !counted->at(c, other, y, x)) continue;
          ++errors.all_bits;
          wrong_bits += state.at(c, item, y, x) != expected.at(c, other, y, x) ? 1 : 0;
        }
      }
    }
    errors.bits += wrong_bits;
    errors.grids += wrong_bits > 0 ? 1 : 0;
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

GridErrors hard_errors(const Rule& rule, const BitGrid& starts, const std::vector<BitGrid>& fire,
                       std::int64_t steps, std::int64_t counted, const Tensor& target) {
  BitAutomaton automaton(rule);
  BitGrid state = starts;
  GridErrors errors;
  errors.all_grids = starts.batch();
  for (std::int64_t step = 0; step < steps; ++step) {
    automaton.step(state, fire.empty() ? nullptr : &fire[static_cast<std::size_t>(step)]);
    if (step + counted < steps) continue;
    const GridErrors one = compare(state, target);
    errors.bits += one.bits;
    errors.all_bits += one.all_bits;
    errors.grids = std::max(errors.grids, one.grids);
  }
  return errors;
}

}  // namespace boolgrad::automata
