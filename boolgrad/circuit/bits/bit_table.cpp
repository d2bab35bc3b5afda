// Synthesis of small functions as AND and XOR gates.
//
// A function is a truth table over six variables. Decompositions that cost one gate and remove a
// variable are always taken:
//   - top decomposition by one variable (x AND g, x OR g, x XOR g);
//   - bottom decomposition by two variables (g(x AND y, ...), g(x XOR y, ...)).
// Otherwise the function is split by the variable whose two parts are cheapest:
//   f = x f1 OR (NOT x) f0,   f = f0 XOR x (f0 XOR f1)   or   f = f1 XOR (NOT x)(f0 XOR f1).
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "boolgrad/circuit/bits/bit_circuit.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::circuit {
namespace {

using Literal = BitLiteral;
using Truth = std::uint64_t;

constexpr std::size_t max_variables = 6;
constexpr Truth always = ~Truth{0};
// The truth table of variable j.
constexpr std::array<Truth, max_variables> variable{0xAAAAAAAAAAAAAAAA, 0xCCCCCCCCCCCCCCCC,
                                                    0xF0F0F0F0F0F0F0F0, 0xFF00FF00FF00FF00,
                                                    0xFFFF0000FFFF0000, 0xFFFFFFFF00000000};

Truth is(std::size_t j, bool value) { return value ? variable[j] : ~variable[j]; }

Truth where(Truth f, std::size_t j, bool value) {
  const int width = 1 << j;
  const Truth kept = f & is(j, value);
  return kept | (value ? kept >> width : kept << width);
}

Truth choice(std::size_t j, Truth then, Truth otherwise) {
  return (is(j, true) & then) | (is(j, false) & otherwise);
}

bool depends(Truth f, std::size_t j) { return where(f, j, false) != where(f, j, true); }

int support(Truth f) {
  int count = 0;
  for (std::size_t j = 0; j < max_variables; ++j) count += depends(f, j) ? 1 : 0;
  return count;
}

/// A top decomposition: x AND rest, x OR rest or x XOR rest, where x is variable j or its
/// complement.
struct Peeled {
  enum Kind { conjunction, disjunction, exclusive_or } kind;
  std::size_t j;
  bool complemented;
  Truth rest;
};

std::optional<Peeled> peeled(Truth f) {
  for (std::size_t j = 0; j < max_variables; ++j) {
    const Truth f0 = where(f, j, false);
    const Truth f1 = where(f, j, true);
    if (f0 == f1) continue;
    if (f0 == 0) return Peeled{Peeled::conjunction, j, false, f1};
    if (f1 == 0) return Peeled{Peeled::conjunction, j, true, f0};
    if (f1 == always) return Peeled{Peeled::disjunction, j, false, f0};
    if (f0 == always) return Peeled{Peeled::disjunction, j, true, f1};
    if (f0 == ~f1) return Peeled{Peeled::exclusive_or, j, false, f0};
  }
  return {};
}

/// A bottom decomposition: the truth table of a gate of variables i and j, and f with variable i
/// standing for that gate.
struct Paired {
  std::size_t i;
  std::size_t j;
  Truth gate;
  Truth rest;
};

std::optional<Paired> paired(Truth f, std::size_t i, std::size_t j) {
  std::array<Truth, 4> parts;
  for (std::size_t k = 0; k < 4; ++k) parts[k] = where(where(f, i, (k & 1) != 0), j, (k & 2) != 0);
  const auto* other =
      std::find_if(parts.begin(), parts.end(), [&](Truth p) { return p != parts[0]; });
  if (other == parts.end()) return {};
  Truth gate = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    if (parts[k] != parts[0] && parts[k] != *other) return {};
    if (parts[k] == *other) gate |= is(i, (k & 1) != 0) & is(j, (k & 2) != 0);
  }
  if (!depends(gate, i) || !depends(gate, j)) return {};
  return Paired{i, j, gate, choice(i, *other, parts[0])};
}

std::optional<Paired> paired(Truth f) {
  for (std::size_t j = 1; j < max_variables; ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      if (std::optional<Paired> found = paired(f, i, j)) return found;
    }
  }
  return {};
}

/// A split by variable j into two functions that do not depend on it.
struct Split {
  enum Kind { either, from_zero, from_one } kind = either;
  std::size_t j = 0;
  int cost = 0;
};

/// Splits and their costs, memoised per function.
class Planner {
 public:
  /// The number of gates of a function without sharing.
  int cost(Truth f) {
    if (f > ~f) f = ~f;
    if (support(f) <= 1) return 0;
    const auto known = costs_.find(f);
    if (known != costs_.end()) return known->second;
    const int result = cost_of_new(f);
    costs_.emplace(f, result);
    return result;
  }

  Split best_split(Truth f) {
    Split best{.cost = 1 << 20};
    const bool small = support(f) <= max_for_differences;
    for (std::size_t j = 0; j < max_variables; ++j) {
      const Truth f0 = where(f, j, false);
      const Truth f1 = where(f, j, true);
      if (f0 == f1) continue;
      keep_cheaper(best, {Split::either, j, 3 + cost(f0) + cost(f1)});
      if (!small) continue;
      keep_cheaper(best, {Split::from_zero, j, 2 + cost(f0) + cost(f0 ^ f1)});
      keep_cheaper(best, {Split::from_one, j, 2 + cost(f1) + cost(f0 ^ f1)});
    }
    return best;
  }

 private:
  // Each additional variable multiplies the functions to examine by four.
  static constexpr int max_for_differences = 4;

  static void keep_cheaper(Split& best, const Split& candidate) {
    if (candidate.cost < best.cost) best = candidate;
  }

  int cost_of_new(Truth f) {
    if (const auto top = peeled(f)) return 1 + cost(top->rest);
    if (const auto pair = paired(f)) return 1 + cost(pair->rest);
    return best_split(f).cost;
  }

  std::unordered_map<Truth, int> costs_;
};

/// A function and the literals of its variables.
class TableBuilder {
 public:
  explicit TableBuilder(BitCircuit& circuit) : circuit_(circuit) {}

  using Variables = std::array<Literal, max_variables>;

  Literal build(Truth f, const Variables& x) {
    if (f == 0 || f == always) return circuit_.constant(f == always);
    if (const auto top = peeled(f)) return joined(*top, x);
    if (const auto pair = paired(f)) {
      Variables inner = x;
      inner[pair->i] = build(pair->gate, x);
      return build(pair->rest, inner);
    }
    return split(f, planner_.best_split(f), x);
  }

 private:
  Literal joined(const Peeled& top, const Variables& x) {
    const Literal own = x[top.j] ^ top.complemented;
    const Literal rest = build(top.rest, x);
    switch (top.kind) {
      case Peeled::conjunction: return circuit_.conjunction(own, rest);
      case Peeled::disjunction: return circuit_.disjunction(own, rest);
      default: return circuit_.exclusive_or(own, rest);
    }
  }

  Literal split(Truth f, const Split& by, const Variables& x) {
    const Truth f0 = where(f, by.j, false);
    const Truth f1 = where(f, by.j, true);
    const Literal own = x[by.j];
    if (by.kind == Split::either) return circuit_.multiplexer(own, build(f1, x), build(f0, x));
    const bool from_one = by.kind == Split::from_one;
    const Literal base = build(from_one ? f1 : f0, x);
    const Literal change = circuit_.conjunction(own ^ from_one, build(f0 ^ f1, x));
    return circuit_.exclusive_or(base, change);
  }

  BitCircuit& circuit_;
  Planner planner_;
};

}  // namespace

BitCircuit::Literal BitCircuit::table(std::span<const Literal> inputs, std::uint64_t truth) {
  if (inputs.size() > max_variables) {
    fail("table", "expected at most {} inputs, received {}", max_variables, inputs.size());
  }
  const std::size_t entries = std::size_t{1} << inputs.size();
  if (entries < 64 && (truth >> entries) != 0) {
    fail("table", "expected a truth table of {} bits, received {:#x}", entries, truth);
  }
  for (std::size_t width = entries; width < 64; width *= 2) truth |= truth << width;
  TableBuilder::Variables variables{};
  for (std::size_t j = 0; j < inputs.size(); ++j) {
    check("table", inputs[j]);
    variables[j] = inputs[j];
    // A constant or repeated input is not a variable of its own.
    if (inputs[j].node() == 0) truth = where(truth, j, inputs[j].complemented());
    for (std::size_t i = 0; i < j; ++i) {
      if (inputs[i].node() != inputs[j].node()) continue;
      const bool same = inputs[i] == inputs[j];
      truth = choice(i, where(truth, j, same), where(truth, j, !same));
    }
  }
  return TableBuilder(*this).build(truth, variables);
}

}  // namespace boolgrad::circuit
