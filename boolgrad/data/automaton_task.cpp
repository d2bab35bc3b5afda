#include "boolgrad/data/automaton_task.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>
#include <vector>

#include "boolgrad/core/fail.h"
#include "boolgrad/options/target.h"

namespace boolgrad::data {

CellRule conways_rule() { return {{.birth = 1U << 3, .survival = 1U << 2 | 1U << 3}, 2}; }

Tensor life_step(const Tensor& grids) { return conways_rule().step(grids); }

namespace {

constexpr std::int64_t side = 3;
constexpr std::size_t cells = 9;

/// The number of a torus that is moved by so many rows and columns.
std::int64_t moved(const CellRule& rule, const Neighbourhood& torus, std::size_t rows,
                   std::size_t columns) {
  Neighbourhood other{};
  for (std::size_t i = 0; i < cells; ++i) {
    other[(i / 3 + rows) % 3 * 3 + (i % 3 + columns) % 3] = torus[i];
  }
  return rule.index(other);
}

/// Whether no translation of a torus has a smaller number.
bool is_first(const CellRule& rule, const Neighbourhood& torus, std::int64_t number) {
  for (std::size_t move = 1; move < cells; ++move) {
    if (moved(rule, torus, move / 3, move % 3) < number) return false;
  }
  return true;
}

/// All 3x3 grids of the states of a rule, or the distinct ones.
Tensor tori_of(const CellRule& rule, Tori which) {
  std::vector<std::uint8_t> states;
  for (std::int64_t number = 0; number < rule.neighbourhoods(); ++number) {
    Neighbourhood torus{};
    std::int64_t rest = number;
    for (std::uint8_t& state : torus) {
      state = static_cast<std::uint8_t>(rest % rule.states());
      rest /= rule.states();
    }
    if (which == Tori::distinct && !is_first(rule, torus, number)) continue;
    states.insert(states.end(), torus.begin(), torus.end());
  }
  const auto grids = static_cast<std::int64_t>(states.size() / cells);
  return Tensor::of(states, {grids, side, side});
}

/// The grids that have a cell whose next state is known, and what is known of them.
struct KnownTori {
  std::vector<std::uint8_t> starts, after, known;
};

KnownTori known_tori(const Tensor& tori, const Tensor& after, const Tensor& known) {
  KnownTori kept;
  const std::span<const std::uint8_t> flags = known.values<std::uint8_t>();
  const auto append = [](std::vector<std::uint8_t>& to, const Tensor& from, std::size_t first) {
    const auto part = from.values<std::uint8_t>().subspan(first, cells);
    to.insert(to.end(), part.begin(), part.end());
  };
  for (std::size_t first = 0; first < flags.size(); first += cells) {
    const auto part = flags.subspan(first, cells);
    if (std::ranges::find(part, 1) == part.end()) continue;
    append(kept.starts, tori, first);
    append(kept.after, after, first);
    append(kept.known, known, first);
  }
  return kept;
}

}  // namespace

AutomatonTask rule_task(const CellRule& rule, Tori tori, std::int64_t batch) {
  const Tensor all = tori_of(rule, tori);
  Tensor known;
  const Tensor after = rule.step(all, &known);
  const KnownTori kept = known_tori(all, after, known);
  if (kept.starts.empty()) fail("rule", "expected a rule of which something is known");
  const Shape shape{static_cast<std::int64_t>(kept.starts.size() / cells), side, side};
  AutomatonTask task{.target = bits_of_states(Tensor::of(kept.after, shape), rule.states()),
                     .starts = bits_of_states(Tensor::of(kept.starts, shape), rule.states()),
                     .batch = std::min(batch, shape[0])};
  const std::span<std::uint8_t> bits = task.target.mutable_values<std::uint8_t>();
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (kept.known[i % kept.known.size()] == 0) bits[i] = any_value;
  }
  return task;
}

AutomatonTask life_task() {
  const CellRule rule = conways_rule();
  return rule_task(rule, Tori::all, rule.neighbourhoods());
}

Tensor grown_part(const Tensor& target, double share) {
  const std::int64_t height = target.shape()[2];
  const std::int64_t width = target.shape()[3];
  const auto distance = [&](std::size_t index) {
    const auto cell = static_cast<std::int64_t>(index) % (height * width);
    return std::max(std::abs(cell / width - height / 2), std::abs(cell % width - width / 2));
  };
  Tensor part = target.clone();
  const std::span<std::uint8_t> bits = part.mutable_values<std::uint8_t>();
  std::int64_t farthest = 0;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (bits[i] != 0) farthest = std::max(farthest, distance(i));
  }
  const auto reached = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(farthest)));
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (distance(i) > reached) bits[i] = 0;
  }
  return part;
}

}  // namespace boolgrad::data
