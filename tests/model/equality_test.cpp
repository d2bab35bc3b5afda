#include "boolgrad/model/equality.h"

#include <gtest/gtest.h>

#include <vector>

#include "boolgrad/circuit/formats/text.h"
#include "tests/support/life_rule.h"
#include "tests/support/messages.h"

namespace boolgrad {
namespace {

/// A classifier of one feature with thresholds 3, 1, 2 and 2. Its class is 1 where the gate with
/// this table of inputs 0 and 1 is.
CircuitSource classifier(unsigned truth, float highest = 3) {
  logic::Network network(4, Parametrisation::sigmoid, DType::float32);
  add_gates(network, {{{0, 1}, [=](unsigned entry) { return (truth >> entry & 1) != 0; }}});
  Classifier parts{
      .thresholds = {1, {0, 0, 0, 0}, Tensor::of(std::vector<float>{highest, 1, 2, 2})},
      .head = {.kind = HeadKind::binary, .classes = 2},
      .format = {}};
  LoadedModel loaded{std::nullopt, Model(std::move(network), std::move(parts))};
  circuit::Netlist netlist = netlist_of(loaded);
  return {std::move(netlist), std::move(loaded)};
}

CircuitSource text(const std::string& lines) {
  return {circuit::netlist_from_text("netlist t\n" + lines + "end\n", "t"), std::nullopt};
}

constexpr unsigned first = 0b1010;  // of input 0, where input 1 is bit 1 of an entry
constexpr unsigned second = 0b1100;
constexpr unsigned both = 0b1000;
constexpr unsigned any = 0b1110;

CircuitComparison compared(const CircuitSource& a, const CircuitSource& b) {
  return compare_circuits(a, b, "a", "b");
}

TEST(CompareClassifiers, IgnoresBitsThatNoFeatureHas) {
  // What exceeds 3 exceeds 1.
  EXPECT_FALSE(compared(classifier(both), classifier(first)).difference);
  EXPECT_FALSE(compared(classifier(any), classifier(second)).difference);
  const CircuitComparison found = compared(classifier(first), classifier(second));
  ASSERT_TRUE(found.difference);
  EXPECT_FALSE(found.difference->values[0]);
  EXPECT_TRUE(found.difference->values[1]);
  EXPECT_EQ(found.difference->values[2], found.difference->values[3]) << "equal thresholds";
  EXPECT_EQ(found.difference->output, "class_0");
  EXPECT_FALSE(found.difference->first);
  EXPECT_TRUE(found.difference->second);
}

TEST(CompareClassifiers, ComparesFilesAndRefusesOtherThresholds) {
  const CircuitSource file = text("input x0 x1 x2 x3\ngate n 0001 x0 x1\noutput class_0 n\n");
  EXPECT_FALSE(compared(classifier(both), file).difference);
  EXPECT_FALSE(compared(file, classifier(first)).difference);
  EXPECT_TRUE(compared(file, classifier(any)).difference);
  expect_error([&] { compared(classifier(both), classifier(both, 4)); },
               "[equal] expected classifiers with the same thresholds, received different ones in "
               "a and b");
}

TEST(CompareCircuits, MatchesPorts) {
  const std::string ports = "input a b\ngate n 0100 a b\noutput y n\n";
  const CircuitComparison same =
      compared(text(ports), text("input b a\ngate n 0010 b a\noutput y n\n"));
  EXPECT_TRUE(same.matches_names);
  EXPECT_TRUE(same.is_exhaustive);
  EXPECT_FALSE(same.difference);
  const CircuitComparison other =
      compared(text(ports), text("input b c\ngate n 0010 b c\noutput y n\n"));
  EXPECT_FALSE(other.matches_names);
  EXPECT_TRUE(other.difference);
  expect_error([&] { compared(text(ports), text("input a\noutput y a\n")); },
               "[equal] expected equal numbers of inputs and outputs, received 2 and 1 in a, 1 "
               "and 1 in b");
}

}  // namespace
}  // namespace boolgrad
