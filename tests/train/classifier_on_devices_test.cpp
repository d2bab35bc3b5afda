// Classifiers trained on devices, compared with the CPU. Skipped without a device.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "boolgrad/model/evaluation.h"
#include "boolgrad/model/samples.h"
#include "boolgrad/train/learners/network_learner.h"
#include "boolgrad/train/search/trainer.h"
#include "tests/support/devices.h"
#include "tests/support/light_pictures.h"
#include "tests/support/messages.h"
#include "tests/support/npy_file.h"
#include "tests/support/random_tensor.h"
#include "tests/support/scratch.h"

namespace boolgrad::train {
namespace {

Experiment monk(const std::vector<std::string>& overrides = {}) {
  return parse_experiment(
      "[task]\nkind = 'monk1'\n[data]\nvalidation = 0.2\n[network]\nhidden = [64]\ninit = "
      "'residual'\n[head]\noutputs = 40\ntemperature = 3\n[training]\nsteps = 100\nbatch = "
      "16\nlearning_rate = 0.05\nlabel_smoothing = 0.1\n",
      "test", "monk", "", overrides);
}

class ClassifierOnDevices : public DeviceTest {};

/// Evaluates the present model on the CPU, on the test samples.
Evaluation evaluated_by_cpu(const Trainer& trainer) {
  const Model& model = trainer.learner().model();
  const auto samples = training_samples_of(trainer.experiment());
  return evaluation_of(predict(model, samples->validation), model.classifier()->head,
                       samples->validation.labels);
}

void expect_same_training(const Device& device, const Experiment& experiment,
                          double tolerance = 1e-3) {
  Trainer host(experiment);
  Trainer other(experiment, device);
  for (int i = 0; i < 60; ++i) {
    const StepResult wanted = host.step();
    const StepResult received = other.step();
    ASSERT_TRUE(received.finite);
    ASSERT_NEAR(received.loss, wanted.loss, tolerance) << "step " << i;
    if (i % 20 != 0) continue;
    const Evaluation by_host = evaluated_by_cpu(other);
    const Evaluation by_device = other.evaluate();
    EXPECT_NEAR(by_device.soft_loss, by_host.soft_loss, 1e-4);
    EXPECT_NEAR(by_device.soft_accuracy, by_host.soft_accuracy, 1e-6);
    EXPECT_EQ(by_device.hard_accuracy, by_host.hard_accuracy);
    EXPECT_EQ(by_device.hard_loss, by_host.hard_loss);
  }
}

TEST_P(ClassifierOnDevices, TrainsAndEvaluatesAsTheCpuDoes) {
  expect_same_training(device(), monk());
}

TEST_P(ClassifierOnDevices, HardensAsTheCpuDoes) {
  // Entries close to one half may harden differently.
  expect_same_training(
      device(), monk({"hardening.kind=blend", "hardening.threshold=10", "hardening.steps=300"}),
      1e-2);
  expect_same_training(device(),
                       monk({"network.parametrisation=walsh", "network.gradient_factor=1.5"}));
}

TEST_P(ClassifierOnDevices, ShiftsImagesAsTheCpuDoes) {
  const testing_support::ScratchFolder data;
  testing_support::write_pictures(data.path(), "train", 200);
  for (const std::string kind : {"threshold", "quantile"}) {
    expect_same_training(
        device(), monk({"task.kind=idx", "data.path=" + data.path().string(),
                        "binarise.kind=" + kind, "training.max_shift=1", "training.batch=32"}));
  }
}

TEST_P(ClassifierOnDevices, TransformsImagesAsTheCpuDoes) {
  const testing_support::ScratchFolder data;
  testing_support::write_pictures(data.path(), "train", 200);
  const std::vector<std::string> learned = {"binarise.learn=true", "binarise.kind=uniform",
                                            "training.learning_rate=0.01"};
  for (const auto& more : {std::vector<std::string>{}, learned}) {
    std::vector<std::string> overrides = {
        "task.kind=idx",          "data.path=" + data.path().string(),
        "training.max_shift=1",   "training.max_rotation=15",
        "training.max_scale=0.2", "training.flip=true",
        "training.cutout=1",      "training.batch=32"};
    overrides.insert(overrides.end(), more.begin(), more.end());
    expect_same_training(device(), monk(overrides));
  }
}

TEST_P(ClassifierOnDevices, LearnsFromATeacherAsTheCpuDoes) {
  const testing_support::ScratchFolder data;
  testing_support::write_scores(data / "teacher.npy", 124, 2);
  for (const std::string weight : {"0.5", "1"}) {
    expect_same_training(
        device(), monk({"training.teacher=" + (data / "teacher.npy").string(),
                        "training.teacher_weight=" + weight, "training.teacher_temperature=2"}));
  }
}

TEST_P(ClassifierOnDevices, TrainsEveryHeadAsTheCpuDoes) {
  expect_same_training(device(), monk({"head.kind=binary", "head.outputs=33"}));
  const testing_support::ScratchFolder data;
  std::string text = "a,b,y\n";
  for (int i = 0; i < 120; ++i) {
    const int a = i * 37 % 100;
    text += std::to_string(a) + (i % 3 == 0 ? ",yes," : ",no,") + std::to_string(a * 0.05) + "\n";
  }
  testing_support::write_bytes(data / "t.csv", text);
  expect_same_training(
      device(), parse_experiment("[task]\nkind = 'csv'\n[data]\nvalidation = 0.2\ntarget = 'y'\n"
                                 "[binarise]\nkind = 'quantile'\nthresholds = 7\nlearn = true\n"
                                 "[network]\nhidden = [64]\ninit = 'residual'\n"
                                 "[head]\nkind = 'regression'\noutputs = 32\n"
                                 "[training]\nsteps = 100\nbatch = 16\nlearning_rate = 0.02\n",
                                 "test", "values", "",
                                 std::vector{"data.path=" + (data / "t.csv").string()}));
}

TEST_P(ClassifierOnDevices, LearnsThresholdsAsTheCpuDoes) {
  const testing_support::ScratchFolder data;
  testing_support::write_pictures(data.path(), "train", 200);
  const Experiment experiment =
      monk({"task.kind=idx", "data.path=" + data.path().string(), "binarise.learn=true",
            "binarise.kind=uniform", "binarise.thresholds=2", "training.learning_rate=0.01",
            "training.max_shift=1"});
  expect_same_training(device(), experiment);
  Trainer trainer(experiment, device());
  const Tensor before = trainer.learner().model().classifier()->thresholds.values().clone();
  for (int i = 0; i < 10; ++i) trainer.step();
  EXPECT_FALSE(same_bits(trainer.learner().model().classifier()->thresholds.values(), before));
}

TEST_P(ClassifierOnDevices, FreezesAndAddsNoiseAsTheCpuDoes) {
  for (const std::string kind : {"gates", "temperature", "noise", "freeze"}) {
    SCOPED_TRACE(kind);
    expect_same_training(
        device(), monk({"hardening.kind=" + kind, "hardening.threshold=10", "hardening.steps=300"}),
        1e-2);
  }
}

TEST_P(ClassifierOnDevices, RejectsDoublePrecision) {
  expect_error([&] { Trainer(monk({"network.dtype=float64"}), device()); },
               "[device] " + to_string(device()) +
                   " does not support double precision (network.dtype = float64): train on the "
                   "cpu, or see `boolgrad devices`");
}

INSTANTIATE_TEST_SUITE_P(Devices, ClassifierOnDevices, all_other_devices, name_of_device);

}  // namespace
}  // namespace boolgrad::train
