#include "boolgrad/circuit/proof/threshold_dont_cares.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <utility>
#include <vector>

#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/proof/equivalence.h"
#include "boolgrad/circuit/threshold_bits.h"
#include "tests/support/messages.h"
#include "tests/support/netlists.h"

namespace boolgrad::circuit {
namespace {

logic::Thresholds thresholds_of(std::vector<std::int32_t> features,
                                const std::vector<float>& values) {
  return {4, std::move(features), Tensor::of(values)};
}

/// A netlist of the bits of three thresholds of one feature, the lowest first, and one of another.
Netlist with_gates(const std::vector<NetlistGate>& gates, const std::vector<Net>& outputs) {
  Netlist netlist;
  netlist.inputs = {"low", "middle", "high", "other"};
  netlist.gates = gates;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    netlist.outputs.push_back("y" + std::to_string(i));
  netlist.output_nets = outputs;
  return checked(std::move(netlist));
}

const std::vector<std::int32_t> features{0, 0, 0, 1};
const std::vector<float> values{1, 2, 3, 1};

/// Whether two circuits agree for all bits that features can have.
bool agree_behind(const Netlist& a, const Netlist& b, const logic::Thresholds& thresholds) {
  return !difference(behind_thresholds(a, thresholds), behind_thresholds(b, thresholds));
}

TEST(ThresholdDontCares, UseThatHigherThresholdsImplyLowerOnes) {
  const logic::Thresholds thresholds = thresholds_of(features, values);
  // low AND high is high, high AND NOT middle is 0, low OR middle is low.
  const Netlist netlist = with_gates({{.truth = 0b1000, .inputs = {0, 2}, .arity = 2},
                                      {.truth = 0b0010, .inputs = {2, 1}, .arity = 2},
                                      {.truth = 0b1110, .inputs = {0, 1}, .arity = 2}},
                                     {4, 5, 6});
  const Netlist result = optimise_for_thresholds(netlist, thresholds);
  EXPECT_EQ(gate_count(result), 0);
  EXPECT_EQ(result.output_nets[0], 2U);
  EXPECT_EQ(result.output_nets[2], 0U);
  EXPECT_TRUE(agree_behind(netlist, result, thresholds));
  EXPECT_TRUE(difference(netlist, result));  // for bits that no feature has
}

TEST(ThresholdDontCares, RemoveInputsOfTables) {
  const logic::Thresholds thresholds = thresholds_of(features, values);
  // (NOT low) AND middle OR high AND other: the first product cannot be 1.
  std::uint64_t truth = 0;
  for (unsigned i = 0; i < 16; ++i) {
    const bool product = (i & 3) == 2;
    truth |= std::uint64_t{product || (i & 12) == 12} << i;
  }
  const Netlist netlist = with_gates({{.truth = truth, .inputs = {0, 1, 2, 3}, .arity = 4}}, {4});
  const Netlist result = optimise_for_thresholds(netlist, thresholds);
  ASSERT_EQ(result.gates.size(), 1U);
  EXPECT_EQ(result.gates[0], (NetlistGate{.truth = 0b1000, .inputs = {2, 3}, .arity = 2}));
}

TEST(ThresholdDontCares, MergeBitsOfEqualThresholds) {
  const logic::Thresholds thresholds = thresholds_of({0, 0, 2, 2}, {1, 1, 3, 5});
  const Netlist netlist = with_gates({{.truth = 0b0110, .inputs = {0, 1}, .arity = 2},
                                      {.truth = 0b1000, .inputs = {1, 3}, .arity = 2}},
                                     {4, 5});
  const Netlist result = optimise_for_thresholds(netlist, thresholds);
  EXPECT_TRUE(agree_behind(netlist, result, thresholds));
  EXPECT_EQ(gate_count(result), 1);
}

TEST(ThresholdDontCares, PreserveTheFunctionForAllFeatures) {
  EXPECT_TRUE(rc::check("of random tables", [](std::uint64_t seed) {
    const logic::Thresholds thresholds =
        thresholds_of({0, 1, 0, 2, 1, 3, 0, 2, 2, 1}, {5, 1, 2, 3, 4, 0, 9, 3, -1, 0.5F});
    const Netlist netlist = random_netlist(10, 50, 6, 4, seed);
    const Netlist result = optimise_for_thresholds(netlist, thresholds);
    RC_ASSERT(agree_behind(netlist, result, thresholds));
    RC_ASSERT(gate_count(result) <= gate_count(netlist));
  }));
}

TEST(ThresholdDontCares, RejectsACircuitOfOtherInputs) {
  expect_error([] { optimise_for_thresholds({}, thresholds_of(features, values)); },
               "[optimise_for_thresholds] expected a circuit of 4 inputs, received 0");
}

TEST(ThresholdBits, AreThoseThatFeaturesCanHave) {
  const logic::Thresholds thresholds = thresholds_of(features, values);
  EXPECT_EQ(possible_bits({false, true, true, true}, thresholds),
            (std::vector<bool>{false, false, false, true}));
  EXPECT_EQ(possible_bits({true, true, false, false}, thresholds),
            (std::vector<bool>{true, true, false, false}));
}

}  // namespace
}  // namespace boolgrad::circuit
