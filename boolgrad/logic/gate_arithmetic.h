// Population counts, comparisons and argmax built from gates of up to three inputs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/logic/gate_sink.h"

namespace boolgrad::logic {

/// The gates of adders. Both forms have the same sums and carries as nets.
enum class AdderGates : std::uint8_t {
  /// Two tables of three inputs: parity and majority.
  tables,
  /// Seven AND and OR gates, which share the products that sum and carry need. Mappers to standard
  /// cells, which see AND gates only, get the least area from them.
  conjunctions,
};

/// An unsigned number: one signal per binary digit, least significant first. Missing digits are 0.
using SignalNumber = std::vector<Signal>;

/// A constant.
SignalNumber emit_number(std::uint64_t value, GateSink& sink);

/// The number of bits that are 1, by a balanced tree of full adders. Each adder is two gates of
/// three inputs, unless `adders` says otherwise. With exponents, bit i counts 2^exponents[i] times.
SignalNumber emit_sum(std::span<const Signal> bits, GateSink& sink,
                      std::span<const std::int32_t> exponents = {},
                      AdderGates adders = AdderGates::tables);

/// The population counts of `groups` consecutive groups of equal size.
std::vector<SignalNumber> emit_group_sums(std::span<const Signal> bits, std::int64_t groups,
                                          GateSink& sink,
                                          std::span<const std::int32_t> exponents = {},
                                          AdderGates adders = AdderGates::tables);

/// Whether a > b.
Signal emit_greater(const SignalNumber& a, const SignalNumber& b, GateSink& sink);

/// `then` where the condition is 1, `otherwise` where it is 0.
SignalNumber emit_select(Signal condition, const SignalNumber& otherwise, const SignalNumber& then,
                         GateSink& sink);

/// The index of the largest of two or more numbers; the first one on a tie.
SignalNumber emit_argmax(std::vector<SignalNumber> numbers, GateSink& sink);

}  // namespace boolgrad::logic
