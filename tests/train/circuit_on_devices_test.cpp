// Circuits trained on devices, compared with the CPU. Skipped without a device.
#include <gtest/gtest.h>

#include <cmath>

#include "boolgrad/model/evaluation.h"
#include "boolgrad/model/tasks.h"
#include "boolgrad/train/search/trainer.h"
#include "tests/support/devices.h"
#include "tests/support/messages.h"
#include "tests/support/trainer_checks.h"

namespace boolgrad::train {
namespace {

class CircuitOnDevices : public DeviceTest {};

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

/// Gates of three and four inputs, and options that need all gradients before the update.
const std::vector<std::string> busy = {"network.parametrisation=sigmoid",
                                       "network.arity=[3, 3, 2, 4]", "training.clip_norm=0.5",
                                       "training.gradient_noise=0.1", "training.batch=24"};

/// Walsh coefficients whose tables harden from the first steps on.
const std::vector<std::string> harder = {"network.parametrisation=walsh",
                                         "network.gradient_factor=1.2", "hardening.kind=blend",
                                         "hardening.threshold=1", "hardening.steps=400"};

void expect_same_curve(const Device& device, const Experiment& experiment, double tolerance) {
  Trainer host(experiment, cpu_device);
  Trainer other(experiment, device);
  for (int step = 0; step < 50; ++step) {
    const double expected = host.step().loss;
    const StepResult received = other.step();
    EXPECT_TRUE(received.finite);
    EXPECT_NEAR(received.loss, expected, tolerance * expected) << "step " << step;
  }
}

TEST_P(CircuitOnDevices, HasTheLossCurveOfTheCpu) {
  expect_same_curve(device(), adder(), 1e-4);
  expect_same_curve(device(), adder({"training.batch=17"}), 1e-4);
  expect_same_curve(device(), adder(busy), 1e-3);
  // Entries close to one half may harden differently.
  expect_same_curve(device(), adder(harder), 1e-2);
}

TEST_P(CircuitOnDevices, HardensAsTheCpuDoes) {
  for (const std::string kind : {"gates", "temperature", "noise", "freeze"}) {
    SCOPED_TRACE(kind);
    expect_same_curve(device(),
                      adder({"network.parametrisation=sigmoid", "hardening.kind=" + kind,
                             "hardening.threshold=1", "hardening.steps=400"}),
                      1e-2);
  }
}

TEST_P(CircuitOnDevices, StoppedAndRestoredGivesTheSameBits) {
  expect_resumable(adder(), 80, {20, 50, 60}, device());
  expect_resumable(adder(busy), 80, {20, 50, 60}, device());
  expect_resumable(adder(harder), 80, {20, 50, 60}, device());
}

TEST_P(CircuitOnDevices, ContinuesARunOfAnotherDevice) {
  const Experiment experiment = adder();
  const auto continued = [&](const Device& from, const Device& to) {
    Trainer first(experiment, from);
    take(first, 30);
    Trainer second(experiment, to);
    second.restore(first.state(), "state");
    return second.step().loss;
  };
  const double expected = continued(cpu_device, cpu_device);
  EXPECT_NEAR(continued(cpu_device, device()), expected, 1e-4 * expected);
  EXPECT_NEAR(continued(device(), cpu_device), expected, 1e-3 * expected);
}

TEST_P(CircuitOnDevices, EvaluatesAsTheCpuDoes) {
  for (const Experiment& experiment : {adder(), adder(busy)}) {
    Trainer trainer(experiment, device());
    take(trainer, 60);
    const Evaluation received = trainer.evaluate();
    const Cases cases(make_task(experiment), experiment.network.dtype);
    const Evaluation expected =
        evaluate(trainer.learner().model().network(), cases, experiment.loss);
    EXPECT_NEAR(received.soft_loss, expected.soft_loss, 1e-4 * expected.soft_loss);
    EXPECT_EQ(received.soft_accuracy, expected.soft_accuracy);
    EXPECT_EQ(received.hard_loss, expected.hard_loss);
    EXPECT_EQ(received.hard_accuracy, expected.hard_accuracy);
    EXPECT_EQ(received.bit_accuracy, expected.bit_accuracy);
  }
}

TEST_P(CircuitOnDevices, RejectsDoublePrecision) {
  expect_error([&] { Trainer(adder({"network.dtype=float64"}), device()); },
               "[device] " + to_string(device()) +
                   " does not support double precision (network.dtype = float64): train on the "
                   "cpu, or see `boolgrad devices`");
}

TEST_P(CircuitOnDevices, RejectsPenaltiesOnGates) {
  expect_error([&] { Trainer(adder({"training.gate_penalty=0.1"}), device()); },
               "[device] " + to_string(device()) +
                   " does not support gate penalty of networks (training.gate_penalty): train on "
                   "the cpu, or see `boolgrad devices`");
}

INSTANTIATE_TEST_SUITE_P(Devices, CircuitOnDevices, all_other_devices, name_of_device);

}  // namespace
}  // namespace boolgrad::train
