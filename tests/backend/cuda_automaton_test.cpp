// The automaton on a CUDA device against the CPU. Skipped where there is no device.
#include "boolgrad/backend/cuda/automaton.h"

#include <gtest/gtest.h>

#include <cmath>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/automata/rollout.h"
#include "boolgrad/backend/cuda/device.h"
#include "boolgrad/data/automaton_task.h"
#include "boolgrad/ops/loss.h"
#include "boolgrad/ops/shaping.h"
#include "tests/support/random_tensor.h"

namespace boolgrad {
namespace {

struct Scene {
  RuleShape shape;
  RolloutSize size;
  Border border = Border::zero;
  double fire_rate = 1;
};

class CudaAutomaton : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why_not = cuda::unavailable();
    if (!why_not.empty()) GTEST_SKIP() << why_not;
  }
};

double relative(const Tensor& value, const Tensor& reference) {
  double most = 0;
  double largest = 0;
  for (std::int64_t i = 0; i < reference.size(); ++i) {
    const double off = std::abs(value.at(i) - reference.at(i));
    if (!(off <= most)) most = off;
    largest = std::max(largest, std::abs(reference.at(i)));
  }
  return largest > 0 ? most / largest : most;
}

/// Loss, states and gradients of both, and the device twice.
void expect_agreement(const Scene& scene) {
  const Rule rule = Rule::make(scene.shape, scene.border, Parametrisation::softmax16,
                               DType::float32, {Initialisation::gaussian, 1}, 7);
  const RolloutSize& size = scene.size;
  const Shape shape{rule.channels(), size.batch, size.height, size.width};
  const Tensor initial = cast(random_starts(shape, 1, 1), DType::float32);
  const Tensor target = cast(random_starts(shape, 2, 1), DType::float32);
  const Tensor fire = scene.fire_rate < 1 ? fire_masks(size, scene.fire_rate, 3, 3) : Tensor();

  std::vector<LutWires> perceive;
  std::vector<LutWires> update;
  const auto perceive_owned = rule.perceive().wirings();
  const auto update_owned = rule.update().wirings();
  for (const WiringPtr& wiring : perceive_owned) perceive.push_back(wiring->view());
  for (const WiringPtr& wiring : update_owned) update.push_back(wiring->view());
  std::vector<Tensor> logits;
  for (const Tensor& parameter : rule.parameters()) logits.push_back(parameter.detach());
  cuda::Automaton device({rule.channels(), size.batch, size.height, size.width, size.steps,
                          rule.channels(), scene.border == Border::periodic, perceive, update},
                         logits);
  const double loss = device.gradients(initial, target, fire);
  const std::vector<Tensor> gradients = device.logit_gradients();
  const Tensor states = device.states();

  const Tensor expected =
      rollout(rule, initial, fire, {.steps = size.steps, .returned = size.steps});
  const Tensor last = slice(expected, 0, size.steps - 1, size.steps);
  const Tensor expected_loss = sum_of_squares(last, target.viewed_as(last.shape()));
  const std::vector<Tensor> expected_gradients = grad(expected_loss, rule.parameters());
  EXPECT_NEAR(loss, expected_loss.item(), 1e-5 * expected_loss.item() + 1e-6);
  EXPECT_LT(relative(states.viewed_from(initial.size(), expected.shape()), expected.detach()),
            1e-5);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    EXPECT_LT(relative(gradients[i], expected_gradients[i]), 1e-5) << "layer " << i;
  }
  EXPECT_EQ(device.gradients(initial, target, fire), loss);
  const std::vector<Tensor> again = device.logit_gradients();
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    EXPECT_TRUE(same_bits(gradients[i], again[i])) << "layer " << i;
  }
}

TEST_F(CudaAutomaton, AgreesForOneCell) {
  expect_agreement({{1, 1, {8}, {}}, {1, 1, 1, 1}});
  expect_agreement({{1, 1, {8, 4, 2, 1}, {2}}, {1, 1, 1, 2}, Border::zero, 0.6});
}

TEST_F(CudaAutomaton, AgreesForOddShapes) {
  expect_agreement({{3, 2, {8, 4, 2}, {11, 7}}, {2, 5, 7, 4}, Border::zero, 0.6});
  expect_agreement({{2, 3, {8, 5}, {11, 7}}, {3, 9, 3, 5}, Border::periodic});
  expect_agreement({{5, 1, {8, 4, 2}, {33}}, {1, 33, 17, 3}, Border::periodic, 0.5});
}

TEST_F(CudaAutomaton, AgreesWhereTilesOutnumberTheProcessors) {
  expect_agreement({{2, 2, {8, 4}, {24, 12}}, {9, 40, 41, 2}});
}

TEST_F(CudaAutomaton, AgreesWhereSharedMemoryDoesNotHoldIt) {
  expect_agreement({{64, 4, {8, 4, 2, 1}, {512, 512, 256}}, {1, 9, 9, 3}, Border::periodic});
}

TEST(CudaBackend, SaysWhyItIsNotThere) {
  if (cuda::unavailable().empty()) {
    EXPECT_NE(cuda::device_description().find("compute capability"), std::string::npos);
  } else {
    EXPECT_GT(cuda::unavailable().size(), 5U);
  }
}

}  // namespace
}  // namespace boolgrad
