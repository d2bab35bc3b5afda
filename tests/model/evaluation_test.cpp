#include "boolgrad/model/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "boolgrad/data/boolean_task.h"

namespace boolgrad {
namespace {

/// One layer of two-input gates with the given wires and logits.
logic::Network network_of(std::int64_t inputs, const std::vector<std::int32_t>& wires,
                          const std::vector<double>& logits) {
  logic::Network network(inputs, Parametrisation::sigmoid, DType::float64);
  const auto gates = static_cast<std::int64_t>(wires.size() / 2);
  network.add_layer(std::make_shared<const logic::Wiring>(inputs, Tensor::of(wires, {2, gates})),
                    Tensor::of(logits, {gates, 4}));
  return network;
}

// Two inputs, outputs AND and XOR, against `add`, which wants XOR and AND: half of what is wrong
// can be counted by hand. Inputs 00, 10, 01, 11 give AND 0001, XOR 0110.
TEST(Evaluation, CountsErrorsOfBitsAndCases) {
  constexpr double sure = 40;
  const logic::Network network =
      network_of(2, {0, 0, 1, 1}, {-sure, -sure, -sure, sure, -sure, sure, sure, -sure});
  const data::BooleanTask task = data::boolean_task(data::TaskKind::add, 2);
  const Evaluation e = evaluate(network, Cases(task, DType::float64), {});
  EXPECT_EQ(e.hard_loss, 6);
  EXPECT_NEAR(e.soft_loss, 6, 1e-12);
  EXPECT_EQ(e.hard_accuracy, 0.25);
  EXPECT_EQ(e.soft_accuracy, 0.25);
  EXPECT_EQ(e.bit_accuracy, 0.25);
  EXPECT_FALSE(e.solved());
}

TEST(Evaluation, DistinguishesSoftAndHard) {
  // A copy of input 0 with probabilities 0.4 and 0.6: hard it is right, soft it is far off.
  const double logit = std::log(0.6 / 0.4);
  const logic::Network network = network_of(1, {0, 0}, {-logit, logit, -logit, logit});
  const data::BooleanTask task = data::boolean_task(data::TaskKind::copy, 1);
  const Cases cases(task, DType::float64);
  Evaluation e = evaluate(network, cases, {.kind = LossKind::squares});
  EXPECT_TRUE(e.solved());
  EXPECT_EQ(e.hard_accuracy, 1);
  EXPECT_NEAR(e.soft_loss, 2 * 0.4 * 0.4, 1e-12);
  e = evaluate(network, cases, {.kind = LossKind::l4});
  EXPECT_NEAR(e.soft_loss, 2 * std::pow(0.4, 4), 1e-12);
  e = evaluate(network, cases, {.kind = LossKind::bce});
  EXPECT_NEAR(e.soft_loss, -2 * std::log(0.6), 1e-12);
  e = evaluate(network, cases, {.kind = LossKind::focal, .focal_gamma = 1});
  EXPECT_NEAR(e.soft_loss, -2 * 0.4 * std::log(0.6), 1e-12);
}

// 2^14 cases are more than one soft pass takes; 3 samples are less than a word.
TEST(Evaluation, CoversAnyNumberOfCases) {
  const data::BooleanTask task = data::boolean_task(data::TaskKind::parity, 14);
  const logic::Network always_zero = network_of(14, {0, 1}, {-40, -40, -40, -40});
  const Evaluation e = evaluate(always_zero, Cases(task, DType::float64), {});
  EXPECT_EQ(e.hard_loss, 8192);
  EXPECT_NEAR(e.soft_loss, 8192, 1e-9);
  EXPECT_EQ(e.hard_accuracy, 0.5);

  data::BooleanTask three = data::boolean_task(data::TaskKind::parity, 2);
  three.inputs = Tensor::of(std::vector<std::uint8_t>{0, 1, 0, 0, 0, 1}, {2, 3});
  three.targets = Tensor::of(std::vector<std::uint8_t>{1, 0, 0}, {1, 3});
  const logic::Network zero = network_of(2, {0, 1}, {-40, -40, -40, -40});
  EXPECT_EQ(evaluate(zero, Cases(three, DType::float64), {}).hard_accuracy, 2.0 / 3);
}

}  // namespace
}  // namespace boolgrad
