// Circuits trained on a CUDA device, beside the CPU. Skipped where there is no device.
#include "boolgrad/train/cuda_circuit_engine.h"

#include <gtest/gtest.h>

#include <cmath>

#include "boolgrad/train/trainer.h"
#include "tests/support/cuda.h"
#include "tests/support/messages.h"
#include "tests/support/trainer_checks.h"

namespace boolgrad {
namespace {

using CudaCircuitEngineTest = CudaTest;

Experiment adder(const std::vector<std::string>& overrides = {}) {
  return parse_experiment(R"(
seed = 3
[task]
kind = "add"
bits = 6
[network]
hidden = [60, 40, 24]
parametrisation = "softmax16"
arity = [2]
init = "gaussian"
[training]
steps = 200
learning_rate = 0.02
weight_decay = 0.01
loss = "l4"
[knockout]
pattern = "random"
share = 0.2
at = 0.25
)",
                          "adder", "adder", "", overrides);
}

/// Gates of three and four inputs, and all that needs every gradient before the first update.
const std::vector<std::string> busy = {"network.parametrisation=sigmoid",
                                       "network.arity=[3, 3, 2, 4]", "training.clip_norm=0.5",
                                       "training.gradient_noise=0.1", "training.batch=24"};

/// Walsh coefficients whose tables harden from the first steps on.
const std::vector<std::string> harder = {"network.parametrisation=walsh",
                                         "network.gradient_factor=1.2", "hardening.kind=blend",
                                         "hardening.threshold=1", "hardening.steps=400"};

void expect_same_curve(const Experiment& experiment, double tolerance) {
  Trainer host(experiment, "cpu");
  Trainer device(experiment, "cuda");
  for (int step = 0; step < 50; ++step) {
    const double expected = host.step().loss;
    const StepResult received = device.step();
    EXPECT_TRUE(received.finite);
    EXPECT_NEAR(received.loss, expected, tolerance * expected) << "step " << step;
  }
}

TEST_F(CudaCircuitEngineTest, HasTheLossCurveOfTheCpu) {
  expect_same_curve(adder(), 1e-4);
  expect_same_curve(adder({"training.batch=17"}), 1e-4);
  expect_same_curve(adder(busy), 1e-3);
  // An entry that is nearly undecided may harden otherwise.
  expect_same_curve(adder(harder), 1e-2);
}

TEST_F(CudaCircuitEngineTest, StoppedAndRestoredGivesTheSameBits) {
  expect_resumable(adder(), 80, {20, 50, 60}, "cuda");
  expect_resumable(adder(busy), 80, {20, 50, 60}, "cuda");
  expect_resumable(adder(harder), 80, {20, 50, 60}, "cuda");
}

TEST_F(CudaCircuitEngineTest, GoesOnWithWhatTheOtherBegan) {
  const Experiment experiment = adder();
  const auto continued = [&](const char* from, const char* to) {
    Trainer first(experiment, from);
    take(first, 30);
    Trainer second(experiment, to);
    second.restore(first.state(), "state");
    return second.step().loss;
  };
  const double expected = continued("cpu", "cpu");
  EXPECT_NEAR(continued("cpu", "cuda"), expected, 1e-4 * expected);
  EXPECT_NEAR(continued("cuda", "cpu"), expected, 1e-3 * expected);
}

TEST_F(CudaCircuitEngineTest, JudgesAsTheCpuDoes) {
  for (const Experiment& experiment : {adder(), adder(busy)}) {
    Trainer trainer(experiment, "cuda");
    take(trainer, 60);
    const Evaluation received = trainer.evaluate();
    const auto& learner = dynamic_cast<const CircuitLearner&>(trainer.learner());
    const Evaluation expected = learner.evaluate();
    EXPECT_NEAR(received.soft_loss, expected.soft_loss, 1e-4 * expected.soft_loss);
    EXPECT_EQ(received.soft_accuracy, expected.soft_accuracy);
    EXPECT_EQ(received.hard_loss, expected.hard_loss);
    EXPECT_EQ(received.hard_accuracy, expected.hard_accuracy);
    EXPECT_EQ(received.bit_accuracy, expected.bit_accuracy);
  }
}

TEST_F(CudaCircuitEngineTest, RefusesAnotherPrecision) {
  expect_error([] { Trainer(adder({"network.dtype=float64"}), "cuda"); },
               "[device] expected a network of float32 for cuda, received float64");
}

TEST(CudaCircuitEngineOffer, RefusesOtherWaysToHarden) {
  expect_error([] { Trainer(adder({"hardening.kind=noise"}), "cuda"); },
               "[device] expected hardening.kind none, blend or straight_through for cuda, "
               "received noise");
}

}  // namespace
}  // namespace boolgrad
