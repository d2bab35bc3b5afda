#include "boolgrad/logic/gate_arithmetic.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

#include "boolgrad/core/fail.h"

namespace boolgrad::logic {
namespace {

constexpr std::uint64_t parity_of_two = 0b0110;
constexpr std::uint64_t both_of_two = 0b1000;
constexpr std::uint64_t either_of_two = 0b1110;
constexpr std::uint64_t first_without_second = 0b0010;
constexpr std::uint64_t parity_of_three = 0b10010110;
constexpr std::uint64_t majority_of_three = 0b11101000;
/// A multiplexer: the second input where the first is 0, the third where it is 1.
constexpr std::uint64_t selection = 0b11100100;
/// The first input where the first two differ, else the third.
constexpr std::uint64_t first_that_differs = 0b10110010;

Signal digit(const SignalNumber& number, std::size_t index, GateSink& sink) {
  return index < number.size() ? number[index] : sink.constant(false);
}

Signal gate_of_three(std::uint64_t truth, Signal a, Signal b, Signal c, GateSink& sink) {
  return sink.gate(std::array{a, b, c}, truth);
}

/// A sum of two or three bits.
struct Added {
  Signal sum = 0;
  Signal carry = 0;
};

Signal gate_of_two(std::uint64_t truth, Signal a, Signal b, GateSink& sink) {
  return sink.gate(std::array{a, b}, truth);
}

/// a + b as (a OR b) AND NOT (a AND b), and the carry a AND b.
Added conjunctions_of_two(Signal a, Signal b, GateSink& sink) {
  const Signal carry = gate_of_two(both_of_two, a, b, sink);
  const Signal either = gate_of_two(either_of_two, a, b, sink);
  return {gate_of_two(first_without_second, either, carry, sink), carry};
}

Added added(Signal a, Signal b, AdderGates adders, GateSink& sink) {
  if (adders == AdderGates::conjunctions) return conjunctions_of_two(a, b, sink);
  return {gate_of_two(parity_of_two, a, b, sink), gate_of_two(both_of_two, a, b, sink)};
}

Added added(Signal a, Signal b, Signal c, AdderGates adders, GateSink& sink) {
  if (adders == AdderGates::conjunctions) {
    const Added first = conjunctions_of_two(b, c, sink);
    const Added second = conjunctions_of_two(first.sum, a, sink);
    return {second.sum, gate_of_two(either_of_two, first.carry, second.carry, sink)};
  }
  return {gate_of_three(parity_of_three, a, b, c, sink),
          gate_of_three(majority_of_three, a, b, c, sink)};
}

struct Candidate {
  SignalNumber number;
  SignalNumber index;
};

}  // namespace

SignalNumber emit_number(std::uint64_t value, GateSink& sink) {
  SignalNumber result;
  for (; value != 0; value >>= 1) result.push_back(sink.constant((value & 1) != 0));
  return result;
}

// The bits of one weight form a queue: adders take from the front and append their sums at the
// back, which balances the tree.
SignalNumber emit_sum(std::span<const Signal> bits, GateSink& sink,
                      std::span<const std::int32_t> exponents, AdderGates adders) {
  std::vector<std::vector<Signal>> by_exponent(1);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const auto exponent = static_cast<std::size_t>(exponents.empty() ? 0 : exponents[i]);
    if (exponent >= by_exponent.size()) by_exponent.resize(exponent + 1);
    by_exponent[exponent].push_back(bits[i]);
  }
  SignalNumber result;
  std::vector<Signal> own;  // carries, then the bits of this weight
  for (std::size_t digit = 0; digit < by_exponent.size() || !own.empty(); ++digit) {
    if (digit < by_exponent.size()) {
      own.insert(own.end(), by_exponent[digit].begin(), by_exponent[digit].end());
    }
    if (own.empty()) {
      if (!bits.empty()) result.push_back(sink.constant(false));
      continue;
    }
    std::vector<Signal> carries;
    std::size_t next = 0;
    while (own.size() - next > 1) {
      const Signal a = own[next++];
      const Signal b = own[next++];
      const Added number =
          next == own.size() ? added(a, b, adders, sink) : added(a, b, own[next++], adders, sink);
      own.push_back(number.sum);
      carries.push_back(number.carry);
    }
    result.push_back(own[next]);
    own = std::move(carries);
  }
  return result;
}

std::vector<SignalNumber> emit_group_sums(std::span<const Signal> bits, std::int64_t groups,
                                          GateSink& sink, std::span<const std::int32_t> exponents,
                                          AdderGates adders) {
  if (groups < 1 || std::ssize(bits) % groups != 0) {
    fail("group_sums", "expected a number of groups that divides {} outputs, received {}",
         bits.size(), groups);
  }
  if (!exponents.empty() && exponents.size() != bits.size()) {
    fail("group_sums", "expected {} exponents, received {}", bits.size(), exponents.size());
  }
  const auto count = static_cast<std::size_t>(groups);
  const std::size_t size = bits.size() / count;
  std::vector<SignalNumber> sums;
  for (std::size_t g = 0; g < count; ++g) {
    const auto own = exponents.empty() ? exponents : exponents.subspan(g * size, size);
    sums.push_back(emit_sum(bits.subspan(g * size, size), sink, own, adders));
  }
  return sums;
}

Signal emit_greater(const SignalNumber& a, const SignalNumber& b, GateSink& sink) {
  Signal result = sink.constant(false);
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    result = gate_of_three(first_that_differs, digit(a, i, sink), digit(b, i, sink), result, sink);
  }
  return result;
}

SignalNumber emit_select(Signal condition, const SignalNumber& otherwise, const SignalNumber& then,
                         GateSink& sink) {
  SignalNumber result;
  for (std::size_t i = 0; i < std::max(otherwise.size(), then.size()); ++i) {
    result.push_back(
        gate_of_three(selection, condition, digit(otherwise, i, sink), digit(then, i, sink), sink));
  }
  return result;
}

// A tournament of neighbours. The later one wins only if it is strictly greater.
SignalNumber emit_argmax(std::vector<SignalNumber> numbers, GateSink& sink) {
  if (numbers.size() < 2)
    fail("argmax", "expected two or more numbers, received {}", numbers.size());
  const auto digits = static_cast<std::size_t>(std::bit_width(numbers.size() - 1));
  std::vector<Candidate> candidates;
  for (SignalNumber& number : numbers) {
    candidates.push_back({std::move(number), emit_number(candidates.size(), sink)});
  }
  while (candidates.size() > 1) {
    std::vector<Candidate> winners;
    for (std::size_t i = 0; i < candidates.size(); i += 2) {
      if (i + 1 == candidates.size()) {
        winners.push_back(std::move(candidates[i]));
        break;
      }
      const Candidate& a = candidates[i];
      const Candidate& b = candidates[i + 1];
      const Signal later = emit_greater(b.number, a.number, sink);
      winners.push_back({emit_select(later, a.number, b.number, sink),
                         emit_select(later, a.index, b.index, sink)});
    }
    candidates = std::move(winners);
  }
  SignalNumber result = std::move(candidates[0].index);
  while (result.size() < digits) result.push_back(sink.constant(false));
  result.resize(digits);
  return result;
}

}  // namespace boolgrad::logic
