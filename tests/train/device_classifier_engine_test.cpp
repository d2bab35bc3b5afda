// Classifiers on devices against the CPU.
#include "boolgrad/train/learners/device_classifier_engine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "boolgrad/train/search/trainer.h"
#include "tests/support/devices.h"
#include "tests/support/light_pictures.h"
#include "tests/support/messages.h"

namespace boolgrad {
namespace {

Experiment monk(const std::vector<std::string>& overrides = {}) {
  return parse_experiment(
      "[task]\nkind = 'monk1'\n[data]\nvalidation = 0.2\n[network]\nhidden = [64]\ninit = "
      "'residual'\n[head]\noutputs = 40\ntemperature = 3\n[training]\nsteps = 100\nbatch = "
      "16\nlearning_rate = 0.05\nlabel_smoothing = 0.1\n",
      "test", "monk", "", overrides);
}

class DeviceClassifierEngineTest : public DeviceTest {};

void expect_same_training(const std::string& name, const Experiment& experiment,
                          double tolerance = 1e-3) {
  Trainer host(experiment);
  Trainer device(experiment, name);
  for (int i = 0; i < 60; ++i) {
    const StepResult wanted = host.step();
    const StepResult received = device.step();
    ASSERT_TRUE(received.finite);
    ASSERT_NEAR(received.loss, wanted.loss, tolerance) << "step " << i;
    if (i % 20 != 0) continue;
    const Evaluation by_host = device.learner().evaluate();
    const Evaluation by_device = device.evaluate();
    EXPECT_NEAR(by_device.soft_loss, by_host.soft_loss, 1e-4);
    EXPECT_EQ(by_device.soft_accuracy, by_host.soft_accuracy);
    EXPECT_EQ(by_device.hard_accuracy, by_host.hard_accuracy);
    EXPECT_EQ(by_device.hard_loss, by_host.hard_loss);
  }
}

TEST_P(DeviceClassifierEngineTest, TrainsAndJudgesAsTheCpuDoes) {
  expect_same_training(device(), monk());
}

TEST_P(DeviceClassifierEngineTest, HardensAsTheCpuDoes) {
  // An entry that is nearly undecided may harden otherwise.
  expect_same_training(
      device(), monk({"hardening.kind=blend", "hardening.threshold=10", "hardening.steps=300"}),
      1e-2);
  expect_same_training(device(),
                       monk({"network.parametrisation=walsh", "network.gradient_factor=1.5"}));
}

TEST_P(DeviceClassifierEngineTest, MovesPicturesAsTheCpuDoes) {
  const testing_support::ScratchFolder data;
  testing_support::write_pictures(data.path(), "train", 200);
  for (const std::string levels : {"threshold", "quantile"}) {
    expect_same_training(
        device(), monk({"task.kind=idx", "data.path=" + data.path().string(),
                        "binarise.kind=" + levels, "training.shift=1", "training.batch=32"}));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceClassifierEngineTest, all_other_devices, name_of_device);

TEST(DeviceClassifierEngineOffer, SaysWhatItIsNot) {
  const auto refuses = [](const std::string& key, const std::string& expected,
                          const std::string& received) {
    for (const Device device : {cuda_device, vulkan_device}) {
      expect_error(
          [&] { Trainer(monk({key}), device); },
          fmt::format("[device] expected {} for {}, received {}", expected, device, received));
    }
  };
  refuses("head.kind=binary", "head.kind classes", "binary");
  refuses("hardening.kind=freeze", "hardening.kind none, blend or straight_through", "freeze");
  refuses("binarise.learn=true", "binarise.learn false", "true");
  refuses("network.dtype=float64", "a network of float32", "float64");
}

}  // namespace
}  // namespace boolgrad
