#include "boolgrad/circuit/encoder.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/circuit/passes/mapping.h"
#include "boolgrad/circuit/passes/passes.h"
#include "tests/support/messages.h"

namespace boolgrad::circuit {
namespace {

/// One bit per threshold.
logic::Thresholds thresholds_of(std::vector<std::int32_t> features,
                                const std::vector<float>& values) {
  constexpr std::int64_t feature_count = 4;
  return {feature_count, std::move(features), Tensor::of(values)};
}

/// A circuit of `inputs` inputs whose outputs are some of them.
Netlist circuit_that_reads(std::size_t inputs, const std::vector<Net>& read) {
  Netlist netlist;
  for (std::size_t i = 0; i < inputs; ++i) netlist.inputs.push_back("x" + std::to_string(i));
  for (std::size_t i = 0; i < read.size(); ++i) netlist.outputs.push_back("y" + std::to_string(i));
  netlist.output_nets = read;
  return checked(std::move(netlist));
}

/// The output of a netlist of one byte and one output for a value of the byte.
bool output_for(const Netlist& netlist, int value) {
  std::vector<std::uint64_t> digits;
  for (int i = 0; i < 8; ++i) digits.push_back(static_cast<std::uint64_t>(value >> i & 1));
  return (evaluate(netlist, digits)[0] & 1) != 0;
}

std::int64_t lut6_count(const Netlist& netlist) {
  return gate_count(map_to_luts(netlist, {.inputs = 6, .keeps_depth = false}));
}

TEST(Encoder, ComparesEveryByteAsThresholdsDo) {
  const Netlist circuit = circuit_that_reads(1, {0});
  for (const float threshold : {-3.0F, -0.5F, 0.0F, 0.5F, 99.75F, 127.0F, 254.5F, 255.0F, 300.0F}) {
    const Netlist encoder = byte_encoder(thresholds_of({2}, {threshold}), circuit);
    ASSERT_EQ(encoder.inputs.size(), 8U);
    EXPECT_EQ(encoder.inputs[3], "x2_3");
    for (int value = 0; value < 256; ++value) {
      ASSERT_EQ(output_for(encoder, value), static_cast<float>(value) > threshold)
          << value << " > " << threshold;
    }
  }
}

TEST(Encoder, ComparesFloatsAsThresholdsDo) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values{-infinity, -1e30F, -7.5F, -1e-40F, -0.0F, 0.0F,
                                  1e-40F,    0.5F,   7.5F,  7.75F,   1e30F, infinity};
  for (const float threshold : values) {
    if (!std::isfinite(threshold)) continue;
    const Netlist encoder =
        float_encoder(thresholds_of({1}, {threshold}), circuit_that_reads(1, {0}));
    ASSERT_EQ(encoder.inputs.size(), 32U);
    EXPECT_EQ(encoder.inputs[31], "x1_31");
    for (const float value : values) {
      std::vector<std::uint64_t> digits;
      for (int i = 0; i < 32; ++i) digits.push_back(std::bit_cast<std::uint32_t>(value) >> i & 1U);
      ASSERT_EQ((evaluate(encoder, digits)[0] & 1) != 0, value > threshold)
          << value << " > " << threshold;
    }
  }
}

TEST(Encoder, HasTheDifferentThresholdsThatAreNeeded) {
  // Bits 0 and 1 are equal for bytes, bit 3 is not read, and neither is feature 3.
  const logic::Thresholds thresholds = thresholds_of({0, 0, 0, 1, 2, 3}, {7.2F, 7.9F, 8, 7, 7, 7});
  const Netlist encoder = byte_encoder(thresholds, circuit_that_reads(6, {0, 1, 2, 4, 4}));
  EXPECT_EQ(encoder.outputs.size(), 3U);
  EXPECT_EQ(encoder.inputs.size(), 16U);
  EXPECT_EQ(checked(encoder), encoder);
}

TEST(Encoder, PinsTheTablesOfAComparison) {
  const Netlist circuit = circuit_that_reads(1, {0});
  for (const auto& [threshold, tables] :
       {std::pair{127.5F, 0}, {63.75F, 1}, {191.25F, 1}, {3, 1}, {2, 2}, {100, 2}, {300, 0}}) {
    EXPECT_EQ(lut6_count(byte_encoder(thresholds_of({0}, {threshold}), circuit)), tables)
        << threshold;
  }
  // Thresholds of one feature share tables.
  EXPECT_EQ(
      lut6_count(byte_encoder(thresholds_of({0, 0}, {100, 36}), circuit_that_reads(2, {0, 1}))), 3);
}

TEST(Encoder, RejectsACircuitOfOtherInputs) {
  expect_error([] { byte_encoder(thresholds_of({0}, {1}), circuit_that_reads(2, {0})); },
               "[byte_encoder] expected a circuit of 1 inputs, received 2");
}

}  // namespace
}  // namespace boolgrad::circuit
