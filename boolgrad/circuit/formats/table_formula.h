// Tables as expressions of AND, OR, XOR and NOT, for formats without tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad::circuit {

/// Builds the expression of a table by Shannon expansion from the last input on. Equal,
/// complementary and constant cofactors need no multiplexer.
///
/// `build` provides constant(bool), negation(a), conjunction(a, b), disjunction(a, b),
/// exclusive_or(a, b) and multiplexer(by, one, zero).
template <class Build, class Value>
Value table_formula(Build& build, std::uint64_t truth, std::span<const Value> inputs) {
  const std::size_t entries = std::size_t{1} << inputs.size();
  const std::uint64_t all = entries == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << entries) - 1;
  if (truth == 0 || truth == all) return build.constant(truth != 0);
  const std::size_t half = entries / 2;
  const std::uint64_t ones = (std::uint64_t{1} << half) - 1;
  const std::uint64_t low = truth & ones;
  const std::uint64_t high = truth >> half;
  const Value& by = inputs.back();
  const auto rest = inputs.first(inputs.size() - 1);
  const auto of = [&](std::uint64_t part) {
    return table_formula<Build, Value>(build, part, rest);
  };
  if (low == high) return of(low);
  if (low == 0) return high == ones ? by : build.conjunction(by, of(high));
  if (high == 0)
    return low == ones ? build.negation(by) : build.conjunction(build.negation(by), of(low));
  if (high == ones) return build.disjunction(by, of(low));
  if (low == ones) return build.disjunction(build.negation(by), of(high));
  if (low == (~high & ones)) return build.exclusive_or(by, of(low));
  return build.multiplexer(by, of(high), of(low));
}

}  // namespace boolgrad::circuit
