#include "boolgrad/automata/rule.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/life_rule.h"
#include "tests/support/messages.h"
#include "tests/support/tensor_files.h"

namespace boolgrad::automata {
namespace {

const RuleShape shape{.channels = 3, .kernels = 2, .perceive = {8, 4, 2}, .update = {20, 9}};

Rule made(const RuleShape& of, std::uint64_t seed = 1) {
  return Rule::make(of, Border::zero, Parametrisation::softmax16, DType::float32,
                    {logic::Initialisation::pass_through, 5}, seed);
}

logic::Network one_gate(std::int64_t inputs, DType dtype = DType::float32) {
  logic::Network network(inputs, Parametrisation::sigmoid, dtype);
  network.add_layer(
      std::make_shared<const logic::Wiring>(inputs, Tensor::zeros({2, 1}, DType::int32)),
      Tensor::zeros({1, 4}, dtype));
  return network;
}

TEST(Rule, HasTheRequestedSize) {
  EXPECT_EQ(shape.update_inputs(), 3 * (1 + 2 * 2));
  const Rule rule = made(shape);
  EXPECT_EQ(rule.channels(), 3);
  EXPECT_EQ(rule.kernels(), 2);
  EXPECT_EQ(rule.perceive().inputs(), 9);
  EXPECT_EQ(rule.perceive().outputs(), 4);
  EXPECT_EQ(rule.update().inputs(), 15);
  EXPECT_EQ(rule.gates(), 2 * (8 + 4 + 2) + 20 + 9 + 3);
  EXPECT_EQ(rule.parameters().size(), 6U);
  EXPECT_EQ(rule.tables().size(), 6U);
}

TEST(Rule, DependsOnTheSeed) {
  expect_same(made(shape).to_file(), made(shape).to_file());
  const Tensor wires = made(shape).to_file().tensors.at("update.layer.0.wires");
  EXPECT_FALSE(same_bits(wires, made(shape, 2).to_file().tensors.at("update.layer.0.wires")));
}

TEST(Rule, HardTablesAreRoundedSoftTables) {
  const Rule rule = made(shape);
  const std::vector<Tensor> soft = rule.tables();
  const std::vector<Tensor> hard = rule.hard_tables();
  ASSERT_EQ(soft.size(), hard.size());
  for (std::size_t layer = 0; layer < soft.size(); ++layer) {
    ASSERT_EQ(soft[layer].shape(), hard[layer].shape());
    for (std::int64_t i = 0; i < soft[layer].size(); ++i) {
      ASSERT_EQ(hard[layer].at(i), soft[layer].at(i) > 0.5 ? 1 : 0) << layer << " " << i;
    }
  }
}

TEST(Rule, RoundTripsThroughAFile) {
  const TensorFile file = life_rule().to_file();
  EXPECT_TRUE(Rule::is_in(file));
  EXPECT_FALSE(Rule::is_in(one_gate(2).to_file()));
  const Rule again = Rule::from_file(file);
  EXPECT_EQ(again.border(), Border::periodic);
  EXPECT_EQ(again.kernels(), 1);
  expect_same(again.to_file(), file);
}

TEST(Rule, RejectsIncompleteFiles) {
  TensorFile file = made(shape).to_file();
  file.metadata["automaton"] = R"({"border": "moebius", "kernels": 2})";
  expect_error([&] { Rule::from_file(file); },
               "[rule] expected border and kernels in the metadata, received "
               R"({"border": "moebius", "kernels": 2})");
  file.metadata.erase("automaton");
  expect_error([&] { Rule::from_file(file); },
               "[rule] expected the metadata of an automaton, received none");
}

TEST(Rule, RejectsNetworksThatDoNotFitTogether) {
  const auto rule_of = [](std::int64_t kernels, const logic::Network& perceive,
                          const logic::Network& update) {
    return [=] { Rule(Border::zero, kernels, perceive, update); };
  };
  const logic::Network empty(9, Parametrisation::sigmoid, DType::float32);
  expect_error(rule_of(1, empty, one_gate(2)),
               "[rule] expected at least one layer of perception and of the update, received 0 "
               "and 1");
  expect_error(rule_of(1, one_gate(8), one_gate(2)),
               "[rule] expected perception to read 9 values, received 8");
  expect_error(rule_of(2, one_gate(9), one_gate(2)),
               "[rule] expected a number of kernels that divides 1 outputs, received 2");
  expect_error(rule_of(1, one_gate(9), one_gate(3)),
               "[rule] expected an update of 2 inputs for 1 channels, received 3");
  expect_error(rule_of(1, one_gate(9), one_gate(2, DType::float64)),
               "[rule] expected one dtype, received float32 and float64");
  expect_error([] { made({.channels = 0, .kernels = 1, .perceive = {8}, .update = {}}); },
               "[rule] expected at least one channel and one kernel, received 0 and 1");
  expect_error([] { made({.channels = 1, .kernels = 1, .perceive = {4}, .update = {}}); },
               "[rule] expected a first layer of perception with 8 gates, received 4");
}

}  // namespace
}  // namespace boolgrad::automata
