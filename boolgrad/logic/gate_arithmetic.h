// Sums of bits, comparisons and argmax as gates of up to three inputs, in any sink.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/logic/gate_sink.h"

namespace boolgrad {

/// One signal per binary digit, the lowest first. Digits that are not there are 0.
using SignalNumber = std::vector<Signal>;

SignalNumber emit_number(std::uint64_t value, GateSink& sink);

/// How many of the bits are 1, in as many digits as their count has: a flat tree of full adders,
/// two gates of three inputs each.
SignalNumber emit_sum(std::span<const Signal> bits, GateSink& sink);

/// The sums of `groups` groups of bits of the same size, one after the other.
std::vector<SignalNumber> emit_group_sums(std::span<const Signal> bits, std::int64_t groups,
                                          GateSink& sink);

/// Whether a > b.
Signal emit_greater(const SignalNumber& a, const SignalNumber& b, GateSink& sink);

/// `then` where the condition is 1, `otherwise` where it is 0.
SignalNumber emit_select(Signal condition, const SignalNumber& otherwise, const SignalNumber& then,
                         GateSink& sink);

/// The index of the largest of two or more numbers, of equal ones the first.
SignalNumber emit_argmax(std::vector<SignalNumber> numbers, GateSink& sink);

}  // namespace boolgrad
