#include "boolgrad/circuit/passes/optimal_implementations.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace boolgrad::circuit {
namespace {

constexpr std::size_t functions = std::size_t{1} << 15;
constexpr std::size_t max_implementations = 4;
constexpr std::int8_t unknown = -1;

using Renaming = std::array<std::uint8_t, 16>;

/// The permutations of the 16 input combinations by all permutations and complements of variables.
std::vector<Renaming> all_renamings() {
  std::vector<Renaming> result;
  std::array<unsigned, 4> order{0, 1, 2, 3};
  do {
    for (unsigned flips = 0; flips < 16; ++flips) {
      Renaming renaming{};
      for (unsigned i = 0; i < 16; ++i) {
        unsigned from = flips;
        for (unsigned j = 0; j < 4; ++j) from ^= (i >> j & 1) << order[j];
        renaming[i] = static_cast<std::uint8_t>(from);
      }
      result.push_back(renaming);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return result;
}

SmallTruth renamed(SmallTruth f, const Renaming& renaming) {
  unsigned result = 0;
  for (unsigned i = 0; i < 16; ++i) result |= (unsigned{f} >> renaming[i] & 1) << i;
  return static_cast<SmallTruth>(result);
}

SmallTruth complement_of(SmallTruth f) { return static_cast<SmallTruth>(~f); }

SmallTruth value_of(const Implementation& candidate) {
  const int value = candidate.exclusive ? candidate.g ^ candidate.h : candidate.g & candidate.h;
  return static_cast<SmallTruth>(candidate.complemented ? ~value : value);
}

/// Complements the implementation if its function is 1 where all variables are 0.
Implementation normal(Implementation candidate) {
  if (OptimalImplementations::is_complemented(value_of(candidate)))
    candidate.complemented = !candidate.complemented;
  return candidate;
}

}  // namespace

const OptimalImplementations& OptimalImplementations::get() {
  static const OptimalImplementations all;
  return all;
}

OptimalImplementations::OptimalImplementations()
    : costs_(functions, unknown), implementations_(functions) {
  std::vector<std::vector<SmallTruth>> representatives{{small_variables[0]}};
  std::vector<std::vector<SmallTruth>> all(1);
  costs_[index_of(0)] = 0;
  for (const SmallTruth f : small_variables) {
    costs_[index_of(f)] = 0;
    all[0].push_back(f);
  }
  std::size_t known = 1 + all[0].size();
  for (int cost = 1; known < functions; ++cost) {
    find_of_cost(cost, representatives, all);
    known += all.back().size();
  }
}

/// Combines functions of costs i and j with i + j + 1 = cost. One representative per class suffices
/// for the first.
void OptimalImplementations::find_of_cost(int cost,
                                          std::vector<std::vector<SmallTruth>>& representatives,
                                          std::vector<std::vector<SmallTruth>>& all) {
  std::vector<SmallTruth> new_representatives;
  std::vector<SmallTruth> new_functions;
  const auto try_implementation = [&](const Implementation& candidate) {
    const Implementation own = normal(candidate);
    const SmallTruth f = value_of(own);
    if (add(f, own, cost, new_functions)) new_representatives.push_back(f);
  };
  for (int i = 0; 2 * i <= cost - 1; ++i) {
    for (const SmallTruth g : representatives[static_cast<std::size_t>(i)]) {
      for (const SmallTruth h : all[static_cast<std::size_t>(cost - 1 - i)]) {
        try_implementation({g, h, true});
        try_implementation({g, h});
        try_implementation({g, complement_of(h)});
        try_implementation({complement_of(g), h});
        try_implementation({complement_of(g), complement_of(h)});
      }
    }
  }
  representatives.push_back(std::move(new_representatives));
  all.push_back(std::move(new_functions));
}

/// Adds an implementation to f and to all functions of its class. Returns whether f was unknown.
bool OptimalImplementations::add(SmallTruth f, const Implementation& candidate, int cost,
                                 std::vector<SmallTruth>& all) {
  static const std::vector<Renaming> renamings = all_renamings();
  const bool is_new = costs_[index_of(f)] == unknown;
  if (!is_new && costs_[index_of(f)] != cost) return false;
  const std::vector<Implementation>& known = implementations_[index_of(f)];
  if (known.size() >= max_implementations || std::ranges::find(known, candidate) != known.end())
    return false;
  for (const Renaming& renaming : renamings) {
    const Implementation other =
        normal({renamed(candidate.g, renaming), renamed(candidate.h, renaming), candidate.exclusive,
                candidate.complemented});
    const SmallTruth value = value_of(other);
    if (costs_[index_of(value)] == unknown) {
      costs_[index_of(value)] = static_cast<std::int8_t>(cost);
      all.push_back(value);
    }
    std::vector<Implementation>& own = implementations_[index_of(value)];
    if (own.size() < max_implementations && std::ranges::find(own, other) == own.end()) {
      own.push_back(other);
    }
  }
  return is_new;
}

}  // namespace boolgrad::circuit
