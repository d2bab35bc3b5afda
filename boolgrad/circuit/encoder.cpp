#include "boolgrad/circuit/encoder.h"

#include <fmt/format.h>

#include <algorithm>
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
constexpr std::size_t digits = 8;

}  // namespace

int byte_threshold(float threshold) {
  return static_cast<int>(std::clamp(std::floor(threshold), -1.0F, static_cast<float>(byte_limit)));
}

Netlist byte_encoder(const logic::Thresholds& thresholds, const Netlist& circuit) {
  if (std::ssize(circuit.inputs) != thresholds.bits()) {
    fail("byte_encoder", "expected a circuit of {} inputs, received {}", thresholds.bits(),
         circuit.inputs.size());
  }
  const std::vector<bool> needed = reached_nets(circuit);
  std::set<std::pair<std::int32_t, int>> comparisons;
  for (std::size_t bit = 0; bit < circuit.inputs.size(); ++bit) {
    if (!needed[bit]) continue;
    const float threshold = thresholds.values().values<float>()[bit];
    comparisons.emplace(thresholds.sources()[bit], byte_threshold(threshold));
  }
  Netlist like;
  std::map<std::int32_t, std::size_t> first_input;  // by feature
  for (const auto& [feature, threshold] : comparisons) {
    like.outputs.push_back(fmt::format("above{}", like.outputs.size()));
    if (!first_input.try_emplace(feature, like.inputs.size()).second) continue;
    for (std::size_t i = 0; i < digits; ++i)
      like.inputs.push_back(fmt::format("x{}_{}", feature, i));
  }
  NetlistBuilder builder(like);
  FoldingNetlistSink sink(builder);
  std::vector<BitLiteral> outputs;
  for (const auto& [feature, threshold] : comparisons) {
    if (threshold < 0) {
      outputs.push_back(BitLiteral::from_code(sink.constant(true)));
      continue;
    }
    logic::SignalNumber value;
    for (std::size_t i = 0; i < digits; ++i) {
      value.push_back(builder.input(first_input[feature] + i).code());
    }
    const logic::SignalNumber limit =
        logic::emit_number(static_cast<std::uint64_t>(threshold), sink);
    outputs.push_back(BitLiteral::from_code(logic::emit_greater(value, limit, sink)));
  }
  return builder.finish(outputs);
}

}  // namespace boolgrad::circuit
