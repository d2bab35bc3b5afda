#include "boolgrad/circuit/encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "boolgrad/circuit/builder.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/sinks.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/logic/gate_arithmetic.h"

namespace boolgrad::circuit {
namespace {

constexpr int byte_limit = 255;
constexpr std::size_t byte_digits = 8;
constexpr std::size_t float_digits = 32;

/// A comparison: a feature, and the number that it must exceed. Negative ones always are.
using Comparison = std::pair<std::int32_t, std::int64_t>;

/// The comparisons that the outputs of a circuit need, without duplicates. `limit_of(threshold)`
/// is the number to exceed.
template <class LimitOf>
std::set<Comparison> comparisons_of(const char* where, const logic::Thresholds& thresholds,
                                    const Netlist& circuit, const LimitOf& limit_of) {
  if (std::ssize(circuit.inputs) != thresholds.bits()) {
    fail(where, "expected a circuit of {} inputs, received {}", thresholds.bits(),
         circuit.inputs.size());
  }
  const std::vector<bool> needed = reached_nets(circuit);
  std::set<Comparison> comparisons;
  for (std::size_t bit = 0; bit < circuit.inputs.size(); ++bit) {
    if (!needed[bit]) continue;
    const float threshold = thresholds.values().values<float>()[bit];
    comparisons.emplace(thresholds.sources()[bit], limit_of(threshold));
  }
  return comparisons;
}

/// Comparators of numbers with constants. `value_of(digits, sink)` is the number that the digits
/// of a feature encode.
template <class ValueOf>
Netlist comparators(const std::set<Comparison>& comparisons, std::size_t digits,
                    const ValueOf& value_of) {
  Netlist like;
  std::map<std::int32_t, std::size_t> first_input;  // by feature
  for (const auto& [feature, limit] : comparisons) {
    like.outputs.push_back(fmt::format("above{}", like.outputs.size()));
    if (!first_input.try_emplace(feature, like.inputs.size()).second) continue;
    for (std::size_t i = 0; i < digits; ++i) {
      like.inputs.push_back(fmt::format("x{}_{}", feature, i));
    }
  }
  NetlistBuilder builder(like);
  FoldingNetlistSink sink(builder);
  std::map<std::int32_t, logic::SignalNumber> values;  // by feature
  for (const auto& [feature, first] : first_input) {
    logic::SignalNumber own;
    for (std::size_t i = 0; i < digits; ++i) own.push_back(builder.input(first + i).code());
    values.emplace(feature, value_of(std::move(own), sink));
  }
  std::vector<BitLiteral> outputs;
  for (const auto& [feature, limit] : comparisons) {
    if (limit < 0) {
      outputs.push_back(BitLiteral::from_code(sink.constant(true)));
      continue;
    }
    const logic::SignalNumber number = logic::emit_number(static_cast<std::uint64_t>(limit), sink);
    outputs.push_back(BitLiteral::from_code(logic::emit_greater(values.at(feature), number, sink)));
  }
  return builder.finish(outputs);
}

/// The digits of the integer key of a float: all complemented if the sign is set, else the sign.
logic::SignalNumber key_of(logic::SignalNumber digits, logic::GateSink& sink) {
  constexpr std::uint64_t parity = 0b0110;
  constexpr std::uint64_t complement = 0b01;
  const logic::Signal sign = digits.back();
  for (logic::Signal& digit : digits) digit = sink.gate(std::array{digit, sign}, parity);
  digits.back() = sink.gate(std::array{sign}, complement);
  return digits;
}

}  // namespace

int byte_threshold(float threshold) {
  return static_cast<int>(std::clamp(std::floor(threshold), -1.0F, static_cast<float>(byte_limit)));
}

std::uint32_t ordered_key(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value == 0 ? 0.0F : value);  // no -0
  return (bits >> 31) != 0 ? ~bits : bits ^ 0x80000000U;
}

Netlist byte_encoder(const logic::Thresholds& thresholds, const Netlist& circuit) {
  return comparators(comparisons_of("byte_encoder", thresholds, circuit, byte_threshold),
                     byte_digits,
                     [](logic::SignalNumber digits, logic::GateSink&) { return digits; });
}

Netlist float_encoder(const logic::Thresholds& thresholds, const Netlist& circuit) {
  return comparators(comparisons_of("float_encoder", thresholds, circuit, ordered_key),
                     float_digits, key_of);
}

}  // namespace boolgrad::circuit
